// The examples of the documentation: runs every block with a language of every page, and compares what it prints.
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { acceptOutputs, findBlocks, matchesOutput } from './blocks.ts'
import { type Commands, runBlocks } from './run-blocks.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** It publishes a release, so it runs last: the other pages show the sample as it is. */
const LAST = 'docs/learn/publish-a-table.md'

export const listExamplePages = (): string[] => {
  const pages = [
    'README.md',
    ...globSync(['docs/*.md', 'docs/{learn,operating,reference}/**/*.md'], { cwd: root }).toSorted(),
  ]
  return [...pages.filter((page) => page !== LAST), ...pages.filter((page) => page === LAST)]
}

export interface PageResult {
  /** The page and the line. */
  readonly where: string
  readonly language: string
  readonly fault: string | null
  readonly isSkipped: boolean
}

/** An example must not change the machine that checks it. */
const REFUSED = ['apt', 'apt-get', 'npm', 'sudo', 'systemctl', 'useradd']

/** What a terminal in the repository has: outbreakctl, and npx, which starts it without the network. */
async function writePrograms(scratch: string): Promise<string> {
  const folder = path.join(scratch, 'programs')
  await mkdir(folder, { recursive: true })
  const curl = execFileSync('which', ['curl'], { encoding: 'utf8' }).trim()
  const programs = {
    // It fails when the service answers with an error, so that no example shows one unnoticed.
    curl: `case " $* " in *" --fail "*) exec ${curl} "$@";; esac\nexec ${curl} --fail-with-body "$@"`,
    outbreakctl: `exec '${process.execPath}' '${path.join(root, 'src/cli.ts')}' "$@"`,
    npx: 'exec "$@"',
    ...Object.fromEntries(
      REFUSED.map((name) => [
        name,
        `echo "${name} would change this machine: say why the block is not run" >&2; exit 1`,
      ]),
    ),
  }
  for (const [name, line] of Object.entries(programs)) {
    await writeFile(path.join(folder, name), `#!/bin/sh\n${line}\n`)
    await chmod(path.join(folder, name), 0o755)
  }
  return folder
}

async function obtainToken(environment: Record<string, string>): Promise<string> {
  const { OUTBREAKS_URL = '', OUTBREAKS_CLIENT_ID = '', OUTBREAKS_CLIENT_SECRET = '' } = environment
  const response = await fetch(`${OUTBREAKS_URL}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ client_id: OUTBREAKS_CLIENT_ID, client_secret: OUTBREAKS_CLIENT_SECRET, audience: OUTBREAKS_URL },
      grant_type: 'client_credentials',
    }),
  })
  return ((await response.json()) as { access_token: string }).access_token
}

export async function runPages(
  pages: readonly string[],
  scratch: string,
  options: { environment: Record<string, string>; commands: Commands; accept: boolean },
): Promise<PageResult[]> {
  const token = await obtainToken(options.environment)
  const environment = {
    ...options.environment,
    PATH: `${await writePrograms(scratch)}:${process.env['PATH'] ?? ''}`,
    API: options.environment['OUTBREAKS_URL'] ?? '',
    TOKEN: token,
    H: `Authorization: Bearer ${token}`,
    OUTBREAKS_CACHE: path.join(scratch, 'cache'),
  }
  const all: PageResult[] = []
  let notRun = 0
  for (const page of pages) {
    const file = path.join(root, page)
    const text = await readFile(file, 'utf8')
    const blocks = findBlocks(text)
    if (blocks.length === 0) continue
    const cwd = await mkdtemp(path.join(scratch, 'page-'))
    const client = path.join(root, 'clients/typescript')
    const results = await runBlocks(blocks, cwd, { environment, commands: options.commands, client })
    notRun += blocks.filter(({ reason }) => reason !== null).length
    for (const { block, printed, fault, isSkipped } of results) {
      const { language, line, expected } = block
      const isOther = !isSkipped && expected !== null && !options.accept && !matchesOutput(expected.text, printed)
      const difference = isOther ? `it prints something else:\n${printed.slice(0, 2000)}` : null
      all.push({ where: `${page}:${line}`, language, fault: fault ?? difference, isSkipped })
    }
    if (options.accept) {
      const ran = results.filter(({ fault, isSkipped }) => fault === null && !isSkipped)
      const printed = new Map(ran.map(({ block, printed: out }) => [block, out]))
      await writeFile(file, acceptOutputs(text, printed))
    }
  }
  const skipped = all.filter(({ isSkipped }) => isSkipped).length
  console.log(
    `documentation: ${all.length - skipped} blocks run, ${skipped} skipped (not installed), ${notRun} with a reason not to run`,
  )
  return all
}
