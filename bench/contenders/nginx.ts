// nginx with one worker that sends a file: the upper limit for sending from memory. It requires no token.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Contender, startChild } from './child.ts'

/** Null if nginx is not installed. */
export function findNginx(): string | null {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
    return 'nginx'
  } catch {
    return null
  }
}

export async function startNginx(program: string, file: string, scratch: string): Promise<Contender> {
  const home = path.join(scratch, 'nginx')
  await mkdir(home, { recursive: true })
  const configuration = path.join(home, 'nginx.conf')
  return startChild({
    program,
    async args(port) {
      await writeFile(configuration, configure(home, file, port))
      return ['-e', path.join(home, 'error.log'), '-c', configuration]
    },
  })
}

const configure = (home: string, file: string, port: number) => `
daemon off;
worker_processes 1;
pid ${home}/pid;
events {}
http {
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${home};`).join(' ')}
  types { application/json json; }
  server {
    listen 127.0.0.1:${port};
    location / { root ${path.dirname(file)}; try_files /${path.basename(file)} =404; add_header content-encoding gzip; }
  }
}
`
