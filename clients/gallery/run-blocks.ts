// Runs the blocks of a page: those of one language are one program, in the order of the page, in one empty directory.
import { type ExecFileException, execFile } from 'node:child_process'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import type { Block } from './blocks.ts'
import { normalise } from './page.ts'

/** The command before the name of a file, and its settings; undefined if the language is not installed. */
export type Commands = Readonly<
  Partial<Record<string, { readonly command: readonly string[]; readonly settings?: Readonly<Record<string, string>> }>>
>

export interface BlockResult {
  readonly block: Block
  readonly printed: string
  readonly fault: string | null
  readonly isSkipped: boolean
}

const TIMEOUT_MS = 120_000
const MARK = '--- end of block ---'
/** What prints the mark after a block, and the name of a program. */
const PROGRAMS: Readonly<Record<string, { file: string; join: (blocks: readonly Block[]) => string }>> = {
  sh: {
    file: 'program.sh',
    join: (blocks) =>
      [
        'set -euo pipefail',
        ...blocks.map(({ code, mustFail }) => {
          const guarded = mustFail ? `if {\n${code}\n}; then echo 'the block does not fail' >&2; exit 1; fi` : code
          return `${guarded}\necho; echo '${MARK}'`
        }),
      ].join('\n'),
  },
  python: {
    file: 'program.py',
    join: (blocks) => blocks.map(({ code }) => `${code}\nprint("\\n${MARK}", flush=True)`).join('\n'),
  },
  r: {
    // Values print themselves, as they do when a reader pastes the lines.
    file: 'program.R',
    join: (blocks) =>
      blocks
        .map(({ code }) => {
          const text = JSON.stringify(code)
          return `source(exprs = parse(text = ${text}, encoding = "UTF-8"), print.eval = TRUE)\ncat("\\n${MARK}\\n")`
        })
        .join('\n'),
  },
}
/** These do not share a program. */
const ALONE = new Set(['ts', 'typescript', 'js', 'sql', 'json'])

interface Output {
  readonly printed: string
  readonly error: string | null
}

function runFile(command: readonly string[], cwd: string, env: Record<string, string | undefined>): Promise<Output> {
  const [program = '', ...before] = command
  return new Promise((resolve) => {
    execFile(
      ...([program, before, { cwd, env, timeout: TIMEOUT_MS, maxBuffer: 64_000_000 }] as const),
      (error: ExecFileException | null, printed: string, errors: string) =>
        resolve({ printed, error: error === null ? null : errors.trim().slice(-600) || error.message }),
    )
  })
}

async function runAlone({ language, code }: Block, cwd: string, i: number, environment: object, commands: Commands) {
  if (language === 'json') {
    JSON.parse(code)
    return { printed: '', error: null }
  }
  if (language === 'sql') {
    const connection = await (await DuckDBInstance.create()).connect()
    await connection.run(`set file_search_path = '${cwd}'`)
    const reader = await connection.runAndReadAll(code)
    connection.closeSync()
    return { printed: reader.getRows().join('\n'), error: null }
  }
  const { command = [] } = commands['typescript'] ?? {}
  const file = path.join(cwd, `block-${i}.${language === 'js' ? 'mjs' : 'mts'}`)
  await writeFile(file, code)
  return runFile([...command, file], cwd, { ...process.env, ...environment })
}

/** The results of all blocks that run. A program stops at its first error, which is that of its block. */
export async function runBlocks(
  blocks: readonly Block[],
  cwd: string,
  { environment, commands, client }: { environment: Record<string, string>; commands: Commands; client: string },
): Promise<BlockResult[]> {
  await mkdir(path.join(cwd, 'node_modules/@outbreak-data'), { recursive: true })
  await symlink(client, path.join(cwd, 'node_modules/@outbreak-data/client'))
  const results: BlockResult[] = []
  const add = (block: Block, printed: string, fault: string | null) =>
    results.push({
      block,
      printed: normalise(printed.replaceAll('\r', ''), environment['OUTBREAKS_URL'] ?? ''),
      fault,
      isSkipped: false,
    })
  const skip = (block: Block) => results.push({ block, printed: '', fault: null, isSkipped: true })

  const chosen = blocks.filter(({ reason }) => reason === null)
  for (const [language, { file, join }] of Object.entries(PROGRAMS)) {
    const members = chosen.filter((block) => block.language === language)
    const tool = commands[language]
    if (members.length === 0) continue
    if (tool === undefined) {
      for (const block of members) skip(block)
      continue
    }
    const program = path.join(cwd, file)
    await writeFile(program, join(members))
    const env = { ...process.env, ...tool.settings, ...environment }
    const { printed, error } = await runFile([...tool.command, program], cwd, env)
    const parts = printed.split(`${MARK}\n`)
    for (const [i, block] of members.entries()) {
      const isReached = i < parts.length - 1
      add(block, parts[i] ?? '', isReached ? null : (error ?? 'the program ended before the block'))
      // The blocks after it did not run.
      if (!isReached) {
        for (const later of members.slice(i + 1)) add(later, '', 'a block before it failed')
        break
      }
    }
  }
  for (const [i, block] of chosen.filter(({ language }) => ALONE.has(language)).entries()) {
    const outcome = await runAlone(block, cwd, i, environment, commands).catch((error: Error) => ({
      ...{ printed: '', error: error.message },
    }))
    add(block, outcome.printed, outcome.error)
  }
  const known = new Set([...Object.keys(PROGRAMS), ...ALONE])
  for (const block of chosen.filter(({ language }) => !known.has(language)))
    add(block, '', `nothing runs ${block.language}: write "<!-- not run: why -->" above it`)
  await Promise.all(
    (await readdir(cwd))
      .filter((name) => name.startsWith('program.'))
      .map((name) => writeFile(path.join(cwd, name), '')),
  )
  return results
}
