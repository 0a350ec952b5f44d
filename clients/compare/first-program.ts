// The first program of a README: installs a package where nothing else is, runs the program, and judges the picture that it drew.
import { type ExecFileOptions, execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { isDrawn } from '../gallery/page.ts'

const runFile = promisify(execFile)
const TIMEOUT_MS = 600_000
const run = (program: string, programArguments: string[], options: ExecFileOptions = {}) =>
  runFile(program, programArguments, { ...options, encoding: 'utf8', timeout: TIMEOUT_MS })
const clients = path.resolve(import.meta.dirname, '..')
const MAX_LINES = 3

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

export const languages = {
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
} satisfies Record<string, Language>

/** The first program of a README, without the commands that install the package, and the picture beside it. */
export function findProgram(readme: string, fence: string): { program: string; picture: string } {
  const programs = [...readme.matchAll(/^```(\w+)\n([^]*?)^```/gm)].filter(([, language]) => language === fence)
  const program = programs.map(([, , text = '']) => text.trim()).find((text) => !text.startsWith('install.packages'))
  const [, picture] = /!\[[^\]]*\]\(([^)]+)\)/.exec(readme) ?? []
  if (program === undefined || picture === undefined)
    throw new Error(`the README has no program or no picture: ${fence}`)
  return { program, picture }
}

/** What is wrong with a program and its picture, or null. `shown` is the picture in the README. */
export async function judgeProgram(program: string, drawn: string, shown: string): Promise<string | null> {
  const lines = program.split('\n').filter((line) => line.trim() !== '').length
  if (lines > MAX_LINES) return `the program has ${lines} lines, more than ${MAX_LINES}`
  // Without a plot, R writes no file at all.
  const bytes = await readFile(drawn).catch(() => Buffer.alloc(0))
  return isDrawn(bytes, await readFile(shown))
    ? null
    : `${path.basename(drawn)} shows less than the picture in the README`
}
