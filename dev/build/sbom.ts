// The software bill of materials (SBOM) of a package, as CycloneDX: every component with its version, licence and digest.
import { execFileSync } from 'node:child_process'

export interface Component {
  readonly type: string
  readonly name: string
  readonly version: string
  readonly purl: string
}

/**
 * From what is installed in the directory, or only from its lock file. Without the time and the number of the run. The directory
 * is that of the package: in a checkout npm leaves out what development needs too, for example pg.
 */
export function createSbom(
  directory: string,
  from: 'installed' | 'lock file',
  added: readonly Component[] = [],
): string {
  const options = from === 'lock file' ? ['--package-lock-only'] : []
  const output = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', ...options], {
    ...{ cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 },
  })
  const {
    serialNumber: _serial,
    metadata,
    components,
    ...rest
  } = JSON.parse(output) as {
    serialNumber?: string
    metadata: { timestamp?: string }
    components: Component[]
  }
  const { timestamp: _time, ...kept } = metadata
  return `${JSON.stringify({ ...rest, metadata: kept, components: [...components, ...added] }, null, 2)}\n`
}
