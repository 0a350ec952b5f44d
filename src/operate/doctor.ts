// outbreakctl doctor: checks the configuration of a node and everything that the node uses. Each finding says what to do.
import { checkIndexFiles } from '../columns/index-file.ts'
import type { Dataset } from '../datasets/define.ts'
import { openDatabase } from '../platform/postgres/database.ts'
import type { FileStore } from '../storage/files/file-store.ts'
import { loadPublishedReleases, type ReleaseFile } from '../storage/published-releases.ts'
import { checkDatabase } from './check-database.ts'
import {
  checkDisks,
  checkFiles,
  checkIssuer,
  checkLimits,
  checkPublicAddress,
  checkRedis,
} from './check-dependencies.ts'
import { type Finding, findingsOf } from './finding.ts'

/** The configuration of a node, as far as it can be checked. */
export interface DoctorOptions {
  readonly databaseUrl: string
  readonly baseUrl: string
  readonly redisUrl: string | null
  readonly maxConnections: number
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

export async function diagnose(options: DoctorOptions): Promise<Finding[]> {
  const { databaseUrl, externalIssuer, oidc, datasets, maxStalenessSeconds } = options
  const sealingKeys = externalIssuer === null ? options.sealingKeys : null
  const findings = [checkNode(), ...checkLimits(options.maxConnections)]
  findings.push(
    ...(await checkDatabase({ url: databaseUrl, sealingKeys, datasets, maxStalenessSeconds })),
    ...(await checkRedis(options.redisUrl)),
    ...(await checkStore(options)),
    ...(await checkIndex(options)),
    ...(await checkDisks(options.directories)),
    ...(externalIssuer === null ? [] : await checkIssuer('issuer of tokens', externalIssuer.jwksUrl, 'keys')),
    ...(oidc === null ? [] : await checkIssuer('provider', `${oidc.issuer}${DISCOVERY}`, 'authorization_endpoint')),
    ...(await checkPublicAddress(options.baseUrl)),
  )
  return findings
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
  const findings: Finding[] = []
  try {
    for (const dataset of datasets)
      for (const { file, damage } of await checkIndexFiles(indexDirectory, dataset))
        findings.push(
          damage === undefined
            ? check.ok(`every row of ${file} can be read`)
            : check.error(`${file} cannot be read: ${damage}`, 'stop its node, delete the file, start the node'),
        )
  } catch (error) {
    findings.push(check.error((error as Error).message, 'correct OUTBREAKS_INDEX, or create the directory'))
  }
  return findings
}

async function checkStore({ databaseUrl, datasets, openFiles }: DoctorOptions): Promise<Finding[]> {
  const findings: Finding[] = []
  const store = await openFiles()
  for (const { name } of datasets) findings.push(...(await checkFiles(store, await listFiles(databaseUrl, name))))
  return findings
}

/** The files that the latest release should have; none if the database does not answer, which is a finding of its own. */
async function listFiles(databaseUrl: string, dataset: string): Promise<readonly ReleaseFile[]> {
  const database = openDatabase({ url: databaseUrl, role: 'outbreaks_api', connections: 1 })
  try {
    return (await loadPublishedReleases(database)).get(dataset)?.at(-1)?.files ?? []
  } catch {
    return []
  } finally {
    await database.close()
  }
}
