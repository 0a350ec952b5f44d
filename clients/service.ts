// Services for the checks of the packages, with the sample or with synthetic releases. Also starts programs of the packages.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { gunzipSync } from 'node:zlib'
import { createCluster, findFreePort } from '../dev/postgres.ts'
import {
  type Credentials,
  dropExports,
  newSettings,
  outbreakctl,
  prepareDatabase,
  type Settings,
  startNotifier,
  startService,
} from '../dev/service.ts'
import { writeSynthRelease } from '../dev/synth/synthesise.ts'
import { buildExplorer } from '../explorer/build.ts'

/** clients/python/check.sh makes it. */
export const python = path.join(os.tmpdir(), 'outbreaks-python-client/bin/python')

/** A database with releases, and their files. */
export interface Published {
  readonly settings: Settings
  readonly credentials: Credentials
  readonly releases: number
  /** The directory with the files of the releases, compressed and plain. */
  readonly files: string
  remove(): Promise<void>
}

/** The arguments of `release publish`: a directory, and options. */
type FindInput = (release: number, scratch: string) => Promise<string[]>

async function publishReleases(releases: number, findInput: FindInput): Promise<Published> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-clients-'))
  const [files, index] = [path.join(directory, 'files'), path.join(directory, 'index')]
  const scratch = path.join(directory, 'scratch')
  const cluster = await createCluster()
  const remove = async () => {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  }
  try {
    dropExports()
    for (const folder of [files, index]) await mkdir(folder)
    process.env['OUTBREAKS_FILES'] = files
    process.env['OUTBREAKS_INDEX'] = index
    const settings = newSettings(cluster.url)
    const credentials = await prepareDatabase(settings)
    for (let release = 1; release <= releases; release += 1) {
      await outbreakctl(settings, 'release', 'publish', ...(await findInput(release, scratch)))
      await rm(scratch, { recursive: true, force: true })
    }
    for (const name of await readdir(files))
      if (name.endsWith('.gz'))
        await writeFile(path.join(files, name.slice(0, -3)), gunzipSync(await readFile(path.join(files, name))))
    return { settings, credentials, releases, files, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** A thousandth of the records is withdrawn in each release after the first. */
export const publishSynthetic = ({ records, releases }: { records: number; releases: number }): Promise<Published> =>
  publishReleases(releases, async (release, scratch) => {
    await writeSynthRelease({ records, seed: 1, release }, scratch)
    return [scratch, '--confirm-withdrawn', String(records / 1000)]
  })

/** The six releases of the sample: real data, and its revisions. */
export const publishSample = (): Promise<Published> =>
  publishReleases(6, async (release) => [path.resolve(import.meta.dirname, `../sample/releases/${release}`)])

/** Gives a program the address and the credentials of a node, and removes the database afterwards. */
export async function withService<Result>(
  { settings, credentials, remove }: Published,
  use: (environment: Record<string, string>) => Promise<Result>,
  overrides: Record<string, string> = {},
): Promise<Result> {
  try {
    // Some examples embed its pictures.
    await buildExplorer()
    const port = await findFreePort()
    const notifierPort = await findFreePort()
    const service = await startService(settings, {
      OUTBREAKS_PORT: String(port),
      OUTBREAKS_NOTIFIER_URL: `http://127.0.0.1:${notifierPort}`,
      ...overrides,
    })
    const notifier = await startNotifier(settings, {
      ...overrides,
      OUTBREAKS_BASE_URL: overrides['OUTBREAKS_BASE_URL'] ?? service.baseUrl,
      OUTBREAKS_PORT: String(notifierPort),
    })
    try {
      return await use({
        OUTBREAKS_URL: overrides['OUTBREAKS_BASE_URL'] ?? service.baseUrl,
        OUTBREAKS_CLIENT_ID: credentials.client_id,
        OUTBREAKS_CLIENT_SECRET: credentials.client_secret,
      })
    } finally {
      await notifier.stop()
      await service.stop()
    }
  } finally {
    await remove()
  }
}

/** Reading a million records in R several times takes most of it. */
const PROGRAM_TIMEOUT_MS = 3_600_000

/** The lines that a program prints. Fails if the program does, or after an hour. */
export async function* runProgram(
  [program = '', ...programArguments]: readonly string[],
  environment: Readonly<Record<string, string>>,
): AsyncGenerator<string, void, undefined> {
  const child = spawn(program, programArguments, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
    timeout: PROGRAM_TIMEOUT_MS,
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  yield* createInterface(child.stdout)
  const [code] = await closed
  if (code !== 0) throw new Error(`${[program, ...programArguments].join(' ')} ended with ${code}`)
}
