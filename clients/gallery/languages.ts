// The languages of the examples: how a package becomes usable, and the command that runs a file.
import { execFile, spawnSync } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { python } from '../service.ts'
import type { Commands } from './run-blocks.ts'

const runFile = promisify(execFile)
const clients = path.resolve(import.meta.dirname, '..')
const TIMEOUT_MS = 120_000

export interface Language {
  readonly name: string
  readonly comment: RegExp
  /** Makes the package usable, and returns the command before the name of an example and its settings. */
  prepare(scratch: string): Promise<{ command: string[]; settings?: Record<string, string> }>
}

/** The environment has the package of one checkout, which is named in its stamp. */
async function requireOwnPython(): Promise<void> {
  const stamp = await readFile(path.join(path.dirname(python), '../stamp'), 'utf8').catch(() => '')
  if (!stamp.startsWith(`${path.join(clients, 'python')} `))
    throw new Error('the Python of this checkout is missing: run clients/python/check.sh')
}

export const languages: Record<string, Language> = {
  python: {
    name: 'Python',
    comment: /^"""(?<text>[^]*?)"""\n+/,
    prepare: async () => {
      await requireOwnPython()
      return { command: [python], settings: { MPLBACKEND: 'agg' } }
    },
  },
  r: {
    name: 'R',
    comment: /^(?<text>(?:#.*\n)+)/,
    prepare: async (scratch) => {
      const library = path.join(scratch, 'library')
      await mkdir(library, { recursive: true })
      await runFile('R', ['CMD', 'INSTALL', '--no-docs', `--library=${library}`, path.join(clients, 'r')], {
        timeout: TIMEOUT_MS,
      })
      return { command: ['Rscript'], settings: { R_LIBS: library } }
    },
  },
  typescript: {
    name: 'TypeScript',
    comment: /^(?<text>(?:\/\/.*\n)+)/,
    prepare: async () => {
      await runFile('npm', ['--prefix', path.join(clients, 'typescript'), 'run', 'build'], { timeout: TIMEOUT_MS })
      return { command: [process.execPath] }
    },
  },
}

/** What the examples load besides base R. */
const R_PACKAGES = ['cli', 'curl', 'ggplot2', 'httr2', 'jsonlite', 'openssl', 'readr', 'rlang', 'tibble']

/** R with these packages is not installed everywhere (docs/decisions/0030-r-is-not-in-ci.md). */
function hasR(): boolean {
  const names = R_PACKAGES.map((name) => `"${name}"`).join(', ')
  const check = `quit(status = !all(vapply(c(${names}), requireNamespace, TRUE, quietly = TRUE)))`
  return spawnSync('Rscript', ['-e', check], { stdio: 'ignore' }).status === 0
}

/** The commands for blocks of all languages that are installed. */
export async function prepareCommands(scratch: string, prepared: Commands = {}): Promise<Commands> {
  const commands: Record<string, Commands[string]> = { sh: { command: ['bash'] }, ...prepared }
  for (const [id, language] of Object.entries(languages))
    if (id !== 'r' || hasR()) commands[id] ??= await language.prepare(scratch)
  return commands
}
