// outbreakctl doctor: checks the configuration of a node and everything that the node uses. Each finding says what to do.
import { type CheckedFile, checkIndexFiles } from '../columns/index-file.ts'
import type { Dataset } from '../datasets/define.ts'
import { describeSystemError, OperatorError } from '../platform/operator-error.ts'
import { openDatabase } from '../platform/postgres/database.ts'
import type { FileStore } from '../storage/files/file-store.ts'
import { loadPublishedReleases, type ReleaseFile } from '../storage/published-releases.ts'
import { checkDatabase } from './check-database.ts'
import {
  checkDisks,
  checkFiles,
  checkIssuer,
  checkLimits,
  checkListener,
  checkNotifier,
  checkPublicAddress,
  checkRedis,
} from './check-dependencies.ts'
import { type Finding, findingsOf } from './finding.ts'

/** The configuration of a node, as far as it can be checked. */
export interface DoctorOptions {
  readonly databaseUrl: string
  readonly baseUrl: string
  readonly host: string
  readonly port: number
  readonly redisUrl: string | null
  readonly notifierUrl: string | null
  readonly maxStalenessSeconds: number
  readonly externalIssuer: { readonly jwksUrl: string } | null
  readonly oidc: { readonly issuer: string } | null
  /** Where the node keeps its column index; null if it is temporary. */
  readonly indexDirectory: string | null
  /** Directories of the node. */
  readonly directories: readonly string[]
  readonly openFiles: () => Promise<FileStore | undefined>
  readonly sealingKeys: readonly Buffer[]
  readonly datasets: readonly Dataset[]
}

const OLDEST_NODE = 24

/** What matters most comes last, where the terminal shows it. */
export async function diagnose(options: DoctorOptions): Promise<Finding[]> {
  const { databaseUrl, externalIssuer, oidc, datasets, maxStalenessSeconds } = options
  const sealingKeys = externalIssuer === null ? options.sealingKeys : null
  const checks: [name: string, run: () => Finding[] | Promise<Finding[]>][] = [
    ['Node', () => [checkNode()]],
    ['file descriptors', () => checkLimits()],
    ['database', () => checkDatabase({ url: databaseUrl, sealingKeys, datasets, maxStalenessSeconds })],
    ['Redis', () => checkRedis(options.redisUrl)],
    ['files', () => checkStore(options)],
    ['index file', () => checkIndex(options)],
    ['disk', () => checkDisks(options.directories)],
    ['issuer of tokens', () => (externalIssuer ? checkIssuer('issuer of tokens', externalIssuer.jwksUrl, 'keys') : [])],
    ['provider', () => (oidc ? checkIssuer('provider', oidc.issuer + DISCOVERY, 'authorization_endpoint') : [])],
    ['this node', () => checkListener(options.host, options.port)],
    ['notifier', () => checkNotifier(options.notifierUrl)],
    ['public address', () => checkPublicAddress(options.baseUrl)],
  ]
  const findings: Finding[] = []
  for (const [name, run] of checks) findings.push(...(await runCheck(name, run)))
  return findings.toSorted((a, b) => URGENCY[a.status] - URGENCY[b.status])
}

const URGENCY = { ok: 0, warning: 1, error: 2 }

/** A check that fails is a finding: the other checks still run. */
async function runCheck(name: string, run: () => Finding[] | Promise<Finding[]>): Promise<Finding[]> {
  const check = findingsOf(name)
  try {
    return await run()
  } catch (error) {
    if (error instanceof OperatorError) return [check.error(error.sentence, error.remedy)]
    const message = describeSystemError(error) ?? (error as Error).message
    return [check.error(`this could not be checked: ${message}`, 'see the page about it in docs/operating')]
  }
}

const DISCOVERY = '/.well-known/openid-configuration'

function checkNode(): Finding {
  const check = findingsOf('Node')
  const major = Number(process.versions.node.split('.')[0])
  return major < OLDEST_NODE
    ? check.error(`Node ${process.version} is too old`, `install Node ${OLDEST_NODE} or newer`)
    : check.ok(process.version)
}

/** Finds damage that no query has met yet. */
async function checkIndex({ indexDirectory, datasets }: DoctorOptions): Promise<Finding[]> {
  const check = findingsOf('index file')
  if (indexDirectory === null) return []
  const files: CheckedFile[] = []
  for (const dataset of datasets) files.push(...(await checkIndexFiles(indexDirectory, dataset)))
  return files.map(({ file, damage, unchecked }) => {
    if (unchecked !== undefined)
      return check.warning(
        `${file} could not be checked: ${unchecked}`,
        'run doctor again; it needs room for a copy in TMPDIR',
      )
    return damage === undefined
      ? check.ok(`every row of ${file} can be read`)
      : check.error(`${file} cannot be read: ${damage}`, `stop its node, run rm ${file}, start the node`)
  })
}

async function checkStore({ databaseUrl, datasets, openFiles }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = []
  const store = await openFiles()
  for (const { name } of datasets) findings.push(...(await checkFiles(store, await listFiles(databaseUrl, name))))
  return findings
}

/** The files that the latest release should have; null if the database does not respond, which is its own finding. */
async function listFiles(databaseUrl: string, dataset: string): Promise<readonly ReleaseFile[] | null> {
  const database = openDatabase({ url: databaseUrl, role: 'outbreaks_api', connections: 1 })
  try {
    return (await loadPublishedReleases(database)).get(dataset)?.at(-1)?.files ?? []
  } catch {
    return null
  } finally {
    await database.close()
  }
}
