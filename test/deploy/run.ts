// npm run verify:deploy: types the commands of docs/deploy.md on a new Debian with systemd, in the order of the page, and checks what
// they made. Prints how many commands there were and how long each section took. Needs root, debootstrap and systemd-nspawn, and
// takes the sources and certificates of this machine. DEPLOY_BASE keeps a Debian as debootstrap made it, for the next run.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { packPackage } from '../../dev/build/package.ts'

const BOOT_TIMEOUT_MS = 60_000
const COMMAND_TIMEOUT_MS = 600_000
const root = path.resolve(import.meta.dirname, '../..')
const certificates = '/etc/ssl/certs/ca-certificates.crt'
const curl =
  'curl --fail --silent --show-error --cacert /etc/haproxy/crt --resolve outbreaks.example.org:443:127.0.0.1 --max-time 10'
const base = 'https://outbreaks.example.org'

interface Section {
  readonly title: string
  readonly commands: readonly string[]
}

/** The blocks of the page with the language sh. Every line is a command. */
const readSections = (page: string): Section[] =>
  [...page.matchAll(/^## (\d+\. .*)\n[^]*?```sh\n([^]*?)```/gm)].map(([, title = '', block = '']) => ({
    title,
    commands: block.trim().split('\n'),
  }))

interface Machine {
  /** The output of a command of root. Everything that one shell would keep is kept: the directory and the variables. */
  run(command: string): string
  stop(): Promise<void>
}

async function startMachine(directory: string): Promise<Machine> {
  const container: ChildProcess = spawn(
    'systemd-nspawn',
    ['-D', directory, '--boot', '--register=no', '--keep-unit', '--resolv-conf=copy-host', '--console=pipe'],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  )
  const deadline = Date.now() + BOOT_TIMEOUT_MS
  const enter = (command: string) => {
    const [leader] = readFileSync(`/proc/${container.pid}/task/${container.pid}/children`, 'utf8').split(' ')
    return execFileSync(
      'nsenter',
      [
        ...['-t', leader || 'none', '-m', '-u', '-i', '-p', '-C', 'env', '-i', 'HOME=/root', 'LANG=C.UTF-8'],
        ...['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', `NODE_EXTRA_CA_CERTS=${certificates}`],
        ...['DEBIAN_FRONTEND=noninteractive', 'bash', '-c', command],
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: COMMAND_TIMEOUT_MS, maxBuffer: 1 << 26 },
    )
  }
  const isRunning = () => {
    try {
      return /running|degraded/.test(enter('systemctl is-system-running || true'))
    } catch {
      return false
    }
  }
  while (!isRunning()) {
    if (Date.now() > deadline) {
      await stop()
      assert.fail('the machine did not start')
    }
    await wait(500)
  }
  enter('cd /root; export -p >/run/shell; echo "cd /root" >>/run/shell')
  return {
    run: (command) =>
      enter(`. /run/shell; ${command}\nstatus=$?; { export -p; echo "cd '$PWD'"; } >/run/shell; exit $status`),
    stop,
  }

  async function stop() {
    container.kill('SIGTERM')
    const timer = setTimeout(() => container.kill('SIGKILL'), 20_000)
    await new Promise((resolve) => container.on('exit', resolve))
    clearTimeout(timer)
  }
}

/** What the page promises, read as a user would read it. */
const CHECKS: [title: string, command: string, expected: RegExp][] = [
  ['both nodes are ready', 'curl -fs 127.0.0.1:8081/ready 127.0.0.1:8082/ready', /ready.*ready/s],
  ['a record is read with a token, through TLS', readRecord(), /"data":\[\{"id":1,/],
  [
    'the metrics of both nodes are read',
    `sleep 20; curl -fs 'localhost:9090/api/v1/query?query=sum(outbreaks_ready)'`,
    /"2"\]/,
  ],
  ['Prometheus has the alerts', 'curl -fs localhost:9090/api/v1/rules', /runbooks/],
  ['the quota is shared', 'redis-cli --scan --pattern "outbreaks-quota*"', /outbreaks-quota/],
  ['there is a backup', 'su postgres -c "pgbackrest --stanza=outbreaks info"', /status: ok[^]*full backup/],
  ['cron makes a backup, and Prometheus can read how it went', runFromCron('incr'), /task_failed\{task="backup"\} 0/],
  ['a rolling restart loses no request', rollingRestart(), /^0 failed of \d{2,}$/m],
  [
    'the nodes run without privileges',
    'stat -c %U /proc/$(systemctl show -p MainPID --value outbreaks@1)',
    /^outbreaks$/m,
  ],
  [
    'nobody else can read the secrets',
    'su nobody -s /bin/sh -c "cat /etc/outbreaks/secrets/secret" 2>&1 || true',
    /Permission denied/,
  ],
]

function readRecord(): string {
  return [
    'read -r id secret <<<"$(node -p \'const c = JSON.parse(fs.readFileSync("/etc/outbreaks/secrets/first-client.json")); c.client_id + " " + c.client_secret\')"',
    `token=$(${curl} ${base}/oauth/token -H 'content-type: application/json' -d "{\\"grant_type\\":\\"client_credentials\\",\\"client_id\\":\\"$id\\",\\"client_secret\\":\\"$secret\\",\\"audience\\":\\"${base}\\"}" | node -p 'JSON.parse(fs.readFileSync(0)).access_token')`,
    `${curl} -H "authorization: Bearer $token" '${base}/v2/hed-outbreaks/outbreaks?num=1'`,
  ].join('\n')
}

/** A line of cron, with its path. */
function runFromCron(word: string): string {
  return `
(PATH=$(sed -n 's/^PATH=//p' /etc/cron.d/outbreaks); export PATH
 sh -c "$(grep ${word} /etc/cron.d/outbreaks | sed -E 's/^([^ ]+ +){5}root //')" >/dev/null)
cat /var/lib/prometheus/node-exporter/outbreaks-*.prom`
}

/** Requests while both nodes restart three times, one after the other: the unit waits until a node is ready. */
function rollingRestart(): string {
  return `
(for i in 1 2 1 2 1 2; do systemctl restart outbreaks@$i && curl -fs -o /dev/null 127.0.0.1:808$i/ready || break; done; touch /run/restarted) &
sent=0 failed=0
while [ ! -e /run/restarted ]; do
  ${curl} ${base}/openapi.json >/dev/null || failed=$((failed + 1))
  sent=$((sent + 1)); sleep 0.05
done
rm /run/restarted; echo "$failed failed of $sent"`
}

function createDebian(): string {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-deploy-'))
  const kept = process.env['DEPLOY_BASE'] || ''
  if (kept !== '' && existsSync(path.join(kept, 'etc'))) execFileSync('cp', ['-a', `${kept}/.`, directory])
  else {
    const packages = '--include=systemd,systemd-sysv,dbus,ca-certificates'
    execFileSync('debootstrap', ['--variant=minbase', packages, 'bookworm', directory], { stdio: 'inherit' })
    if (kept !== '') execFileSync('cp', ['-a', directory, kept])
  }
  // The directory is / of the new machine: other users than root must read it too.
  chmodSync(directory, 0o755)
  // What this machine needs to reach the registries, the new one needs too.
  execFileSync('cp', [certificates, path.join(directory, certificates)])
  for (const name of readdirSync('/etc/apt/sources.list.d'))
    execFileSync('cp', [`/etc/apt/sources.list.d/${name}`, path.join(directory, 'etc/apt/sources.list.d')])
  writeFileSync(path.join(directory, 'etc/apt/sources.list'), '')
  return directory
}

const directory = createDebian()
await packPackage(path.join(directory, 'root'))
const machine = await startMachine(directory)
let [passed, failed, commands, seconds] = [0, 0, 0, 0]
function attempt(what: string, work: () => void): void {
  try {
    work()
    passed += 1
    console.log(`ok   ${what}`)
  } catch (error) {
    failed += 1
    const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string }
    console.log(`NOT  ${what}\n${[message, stdout, stderr].join('\n').slice(-3000)}`)
  }
}
try {
  const table = ['| section | commands | seconds |', '| --- | --- | --- |']
  for (const section of readSections(readFileSync(path.join(root, 'docs/deploy.md'), 'utf8'))) {
    const startedAt = performance.now()
    for (const command of section.commands) attempt(command.slice(0, 100), () => machine.run(command))
    const took = (performance.now() - startedAt) / 1000
    table.push(`| ${section.title} | ${section.commands.length} | ${took.toFixed(0)} |`)
    commands += section.commands.length
    seconds += took
  }
  for (const [title, command, expected] of CHECKS) attempt(title, () => assert.match(machine.run(command), expected))
  console.log(`${table.join('\n')}\n| all | ${commands} | ${seconds.toFixed(0)} |`)
} finally {
  await machine.stop()
  rmSync(directory, { recursive: true, force: true })
}
console.log(`deploy: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && commands > 20 ? 0 : 1
