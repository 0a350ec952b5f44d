// node clients/speed/run.ts [--records 1000000] [--rounds 3]: how long the Python and R packages take to read a whole release
// into a data frame, side by side with reading its file from disk. Prints medians with the range of the rounds, and ratios.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { createCluster } from '../../dev/postgres.ts'
import { newSettings, outbreakctl, prepareDatabase, startService } from '../../dev/service.ts'
import { writeSynthRelease } from '../../dev/synth/synthesise.ts'

const { values } = parseArgs({
  options: { records: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '3' } },
})
const clients = path.resolve(import.meta.dirname, '..')
const python = path.join(os.tmpdir(), 'outbreaks-python-client/bin/python')
/** Each prints one line of JSON for each measurement: what, seconds, cpu (of the client). */
const programs: Record<string, string[]> = {
  Python: [python, path.join(clients, 'python/tests/speed.py')],
  R: ['Rscript', path.join(clients, 'r/speed.R')],
}

interface Measurement {
  readonly what: string
  readonly seconds: number
  readonly cpu: number
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
const format = (numbers: readonly number[]) =>
  `${median(numbers).toFixed(2)} [${Math.min(...numbers).toFixed(2)}..${Math.max(...numbers).toFixed(2)}]`

async function measure(command: readonly string[], settings: object): Promise<Measurement[]> {
  const [program = '', ...programArguments] = command
  const child = spawn(program, programArguments, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${command.join(' ')} failed`)
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Measurement)
}

const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-speed-'))
const files = path.join(directory, 'files')
const input = path.join(directory, 'release')
const cluster = await createCluster()
try {
  await mkdir(files)
  process.env['OUTBREAKS_FILES'] = files
  process.env['OUTBREAKS_INDEX'] = directory
  const settings = newSettings(cluster.url)
  const credentials = await prepareDatabase(settings)
  await writeSynthRelease({ records: Number(values.records), seed: 1, release: 1 }, input)
  console.log(`publishing ${values.records} records`)
  await outbreakctl(settings, 'release', 'publish', input)
  await rm(input, { recursive: true })
  const service = await startService(settings)
  try {
    for (const [language, command] of Object.entries(programs)) {
      if (language === 'Python' && !existsSync(python)) throw new Error('run clients/python/check.sh first')
      const found = await measure(command, {
        OUTBREAKS_URL: service.baseUrl,
        OUTBREAKS_CLIENT_ID: credentials.client_id,
        OUTBREAKS_CLIENT_SECRET: credentials.client_secret,
        SPEED_FILES: files,
        SPEED_ROUNDS: values.rounds,
      })
      console.log(`${language}: seconds, and CPU seconds of the client; median [least..most]`)
      for (const [what, rounds = []] of Object.entries(Object.groupBy(found, (one) => one.what))) {
        const [seconds, cpu] = [rounds.map((one) => one.seconds), rounds.map((one) => one.cpu)]
        console.log(`  ${what.padEnd(52)} ${format(seconds).padEnd(24)} ${format(cpu)}`)
      }
    }
  } finally {
    await service.stop()
  }
} finally {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
}
