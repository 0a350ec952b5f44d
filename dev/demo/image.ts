// npm run build:demo: builds the demo image, in which one container has the service, PostgreSQL and the published sample. Needs
// buildah. Writes dist/demo-image.tar. Two builds differ in the database: PostgreSQL gives each cluster an identifier and times.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  type BuiltImage,
  buildArchive,
  fillTree,
  inTemporaryDirectory,
  packDirectory,
  packTree,
  USER,
} from '../build/image.ts'
import { root } from '../build/package.ts'
import { findEmbeddedBinaries, openCluster } from '../postgres.ts'
import { newSettings, outbreakctl } from '../service.ts'

const RELEASES = [1, 2, 3, 4, 5, 6]
/** Small, because the image has the files of the database. */
const SETTINGS = {
  fsync: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '64MB',
  min_wal_size: '32MB',
}

export async function buildDemoImage(output = path.join(root, 'dist')): Promise<Omit<BuiltImage, 'sbom'>> {
  return inTemporaryDirectory(async (work) => {
    const home = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-demo-'))
    const bin = await findEmbeddedBinaries(home)
    const { tree, version } = await fillTree(work, (target) => {
      cpSync(path.dirname(bin), path.join(target, 'postgres'), { recursive: true, verbatimSymlinks: true })
      return [path.join(target, 'postgres/bin/postgres')]
    })
    mkdirSync(path.join(tree, 'demo'))
    cpSync(path.join(import.meta.dirname, 'start.ts'), path.join(tree, 'demo/start.ts'))
    packTree(work, tree)
    await writeData(work, home, bin)
    const archive = path.join(output, 'demo-image.tar')
    mkdirSync(output, { recursive: true })
    const name = `localhost/outbreak-data-demo:${version}`
    return buildArchive(work, { name, version, archive, file: 'deploy/demo/Containerfile' })
  })
}

/** The database and the files of the sample, owned by the user of the image. */
async function writeData(work: string, home: string, bin: string): Promise<void> {
  const files = path.join(work, 'data/files')
  for (const name of ['files', 'index']) mkdirSync(path.join(work, 'data', name), { recursive: true })
  mkdirSync(path.join(work, 'run'))
  const cluster = await openCluster({ home, bin, settings: SETTINGS, timeoutSeconds: 60, shutdownMode: 'fast' })
  try {
    const settings = newSettings(cluster.url)
    const withFiles = { ...settings, variables: { OUTBREAKS_FILES: files } }
    await outbreakctl(settings, 'migrate')
    for (const release of RELEASES)
      await outbreakctl(withFiles, 'release', 'publish', path.join(root, 'sample/releases', String(release)))
  } finally {
    await cluster.stop()
  }
  cpSync(path.join(home, 'data'), path.join(work, 'data/postgres'), { recursive: true })
  chmodSync(path.join(work, 'data/postgres'), 0o700)
  rmSync(home, { recursive: true })
  packDirectory(path.join(work, 'data'), path.join(work, 'data.tar'), USER)
  packDirectory(path.join(work, 'run'), path.join(work, 'run.tar'), USER)
}

if (import.meta.main) {
  const { name, id, archive } = await buildDemoImage()
  console.log(`${name}\n${id}\n${path.relative(process.cwd(), archive)}`)
}
