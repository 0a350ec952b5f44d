// node clients/compare/ease.ts: what a new user does. Builds each package, installs it where nothing else is, runs the first
// program of its README, which has at most three lines, and checks that it drew a picture.
import { type ExecFileOptions, execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { publishSample, withService } from '../service.ts'

const runFile = promisify(execFile)
const TIMEOUT_MS = 600_000
const run = (program: string, programArguments: string[], options: ExecFileOptions = {}) =>
  runFile(program, programArguments, { ...options, encoding: 'utf8', timeout: TIMEOUT_MS })
const clients = path.resolve(import.meta.dirname, '..')
const MAX_LINES = 3
/** A picture without a curve is smaller. */
const MIN_BYTES = 4000

interface Language {
  /** How the README marks its programs. */
  readonly fence: string
  /** Builds and installs the package in an empty directory. */
  install(directory: string): Promise<void>
  /** Runs the program, whose last expression is the picture, and gives the name of the picture. */
  draw(directory: string, program: string, environment: NodeJS.ProcessEnv): Promise<string>
}

/** The file that a build wrote. */
async function findFile(directory: string, end: string): Promise<string> {
  const found = (await readdir(directory)).find((name) => name.endsWith(end))
  if (found === undefined) throw new Error(`there is no file ${end} in ${directory}`)
  return path.join(directory, found)
}

const languages: Record<string, Language> = {
  python: {
    fence: 'python',
    async install(directory) {
      const bin = path.join(directory, 'venv/bin')
      await run('python3', ['-m', 'venv', path.join(directory, 'venv')])
      await run(path.join(bin, 'pip'), ['install', '--quiet', 'build'])
      await run(path.join(bin, 'python'), [
        '-m',
        'build',
        '--wheel',
        '--outdir',
        directory,
        path.join(clients, 'python'),
      ])
      await run(path.join(bin, 'pip'), ['install', '--quiet', `${await findFile(directory, '.whl')}[all]`])
    },
    async draw(directory, program, environment) {
      const file = path.join(directory, 'program.py')
      // In a notebook the picture appears by itself.
      await writeFile(file, `${program}\nimport matplotlib.pyplot as plt\nplt.savefig("curve.png")\n`)
      const env = { ...environment, MPLBACKEND: 'agg' }
      await run(path.join(directory, 'venv/bin/python'), [file], { cwd: directory, env })
      return 'curve.png'
    },
  },
  r: {
    fence: 'r',
    async install(directory) {
      await run('R', ['CMD', 'build', '--no-build-vignettes', path.join(clients, 'r')], { cwd: directory })
      const library = path.join(directory, 'library')
      await mkdir(library)
      await run('R', ['CMD', 'INSTALL', `--library=${library}`, await findFile(directory, '.tar.gz')])
    },
    async draw(directory, program, environment) {
      const file = path.join(directory, 'program.R')
      // Rscript prints the last value to a device of its own.
      await writeFile(file, `png("curve.png", width = 700, height = 320)\n${program}\n`)
      await run('Rscript', [file], { cwd: directory, env: { ...environment, R_LIBS: path.join(directory, 'library') } })
      return 'curve.png'
    },
  },
  typescript: {
    fence: 'ts',
    async install(directory) {
      await run('npm', ['pack', '--pack-destination', directory], { cwd: path.join(clients, 'typescript') })
      await writeFile(path.join(directory, 'package.json'), '{ "type": "module" }\n')
      await run('npm', ['install', '--no-audit', '--no-fund', await findFile(directory, '.tgz')], { cwd: directory })
    },
    async draw(directory, program, environment) {
      const file = path.join(directory, 'curve.ts')
      await writeFile(file, program)
      const { stdout } = await run(process.execPath, [file], { cwd: directory, env: environment, maxBuffer: 1e8 })
      await writeFile(path.join(directory, 'curve.svg'), stdout)
      return 'curve.svg'
    },
  },
}

/** The first program of a README, without the commands that install the package. */
function findProgram(readme: string, fence: string): string {
  const programs = [...readme.matchAll(/^```(\w+)\n([^]*?)^```/gm)].filter(([, language]) => language === fence)
  const program = programs.map(([, , text = '']) => text.trim()).find((text) => !text.startsWith('install.packages'))
  if (program === undefined) throw new Error(`the README has no program in ${fence}`)
  return program
}

let [passed, failed] = [0, 0]
await withService(await publishSample(), async (environment) => {
  for (const [name, { fence, install, draw }] of Object.entries(languages)) {
    const directory = await mkdtemp(path.join(os.tmpdir(), `outbreaks-ease-${name}-`))
    try {
      const program = findProgram(await readFile(path.join(clients, name, 'README.md'), 'utf8'), fence)
      const lines = program.split('\n').filter((line) => line.trim() !== '').length
      await install(directory)
      const picture = await draw(directory, program, { ...process.env, ...environment })
      const { size } = await stat(path.join(directory, picture))
      const isGood = lines <= MAX_LINES && size >= MIN_BYTES
      console.log(`${name}: ${lines} lines, ${picture} of ${size} bytes${isGood ? '' : ': NOT GOOD'}`)
      if (isGood) passed += 1
      else failed += 1
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }
})
console.log(`ease: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
