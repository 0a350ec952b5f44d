// node clients/compare/ease.ts: what a new user does. Builds each package, installs it where nothing else is, runs the first
// program of its README, which has at most three lines, and checks that it drew a picture.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { reportFindings } from '../report.ts'
import { publishSample, withService } from '../service.ts'
import { findProgram, judgeProgram, languages } from './first-program.ts'

const clients = path.resolve(import.meta.dirname, '..')
const faults: string[] = []
await withService(await publishSample(), async (environment) => {
  for (const [name, { fence, install, draw }] of Object.entries(languages)) {
    const directory = await mkdtemp(path.join(os.tmpdir(), `outbreaks-ease-${name}-`))
    try {
      const readme = await readFile(path.join(clients, name, 'README.md'), 'utf8')
      const { program, picture } = findProgram(readme, fence)
      await install(directory)
      const drawn = await draw(directory, program, { ...process.env, ...environment })
      const fault = await judgeProgram(program, path.join(directory, drawn), path.join(clients, name, picture))
      if (fault === null) console.log(`${name}: installed, and drew ${drawn}`)
      else faults.push(`${name}: ${fault}`)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }
})
reportFindings('ease', { checks: Object.keys(languages).length, faults })
