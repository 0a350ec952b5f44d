// node clients/gallery/run.ts [--accept] [python] [r] [typescript]: runs the examples of each package against a service with
// the sample, and compares the pages of the gallery with what the examples print and draw. --accept writes the pages.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { publishSample, python, withService } from '../service.ts'

const runFile = promisify(execFile)
const clients = path.resolve(import.meta.dirname, '..')
const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-gallery-'))
const STATES = 'us-states.csv'
const TIMEOUT_MS = 120_000

interface Language {
  readonly name: string
  readonly comment: RegExp
  /** Makes the package usable, and returns the command before the name of an example and its settings. */
  prepare(): Promise<{ command: string[]; settings?: Record<string, string> }>
}

const languages: Record<string, Language> = {
  python: {
    name: 'Python',
    comment: /^"""(?<text>[^]*?)"""\n+/,
    prepare: async () => ({ command: [python], settings: { MPLBACKEND: 'agg' } }),
  },
  r: {
    name: 'R',
    comment: /^(?<text>(?:#.*\n)+)/,
    prepare: async () => {
      const library = path.join(scratch, 'library')
      await mkdir(library)
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

/** The page must not differ from day to day or from service to service. */
function normalise(text: string, url: string): string {
  const [year, month, day] = new Date().toISOString().slice(0, 10).split('-').map(Number)
  return text
    .replaceAll(url, 'https://data.example.org')
    .replaceAll(new Date().toISOString().slice(0, 10), '2026-01-01')
    .replace(
      `year = {${year}},\n  month = {${month}},\n  day = {${day}}`,
      'year = {2026},\n  month = {1},\n  day = {1}',
    )
    .replace(/[ \t]+$/gm, '')
    .replace(/^\n+|\n+$/g, '')
}

interface Example {
  readonly file: string
  readonly title: string
  readonly about: string
  readonly code: string
  readonly output: string
  /** The name of the picture and its bytes. */
  readonly picture: [name: string, bytes: Buffer] | null
}

async function runExample(
  file: string,
  language: Language,
  command: readonly string[],
  settings: object,
): Promise<Example> {
  const source = await readFile(file, 'utf8')
  const comment = language.comment.exec(source)
  const lines = (comment?.groups?.['text'] ?? '').split('\n').map((line) => line.replace(/^(?:#|\/\/) ?/, ''))
  const directory = await mkdtemp(path.join(scratch, 'example-'))
  // Some examples need a table beside the data of the service.
  await copyFile(path.join(import.meta.dirname, STATES), path.join(directory, STATES))
  const env = { ...process.env, ...settings, OUTBREAKS_CACHE: path.join(directory, 'cache') }
  const [program = '', ...before] = command
  const { stdout } = await runFile(program, [...before, file], { cwd: directory, env, timeout: TIMEOUT_MS })
  const picture = (await readdir(directory)).find((name) => /\.(png|svg)$/.test(name))
  return {
    file: path.basename(file),
    title: lines[0]?.replace(/\.$/, '') ?? '',
    about: lines.slice(1).join(' ').trim(),
    code: source.slice(comment?.[0].length ?? 0).trim(),
    output: stdout,
    picture: picture === undefined ? null : [picture, await readFile(path.join(directory, picture))],
  }
}

function renderPage({ name }: Language, id: string, examples: readonly Example[]): string {
  const parts = examples.map(({ file, title, about, code, output, picture }) =>
    [
      `## ${title}`,
      ...(about === '' ? [] : [about]),
      ...(picture === null ? [] : [`![${title}](pictures/${picture[0]})`]),
      `[${file}](${file})`,
      `\`\`\`${id}\n${code}\n\`\`\``,
      `\`\`\`text\n${output}\n\`\`\``,
    ].join('\n\n'),
  )
  const about = `Ten analyses in ${name}. \`npm run dev\` in the repository starts a service with the same data.`
  const made = '<!-- Made from the examples by `node clients/gallery/run.ts --accept`; do not edit by hand. -->'
  return `# Examples\n\n${made}\n\n${about}\n\n${parts.join('\n\n')}\n`
}

/** Returns what differs from the page in the repository, or writes it. */
async function compare(
  directory: string,
  page: string,
  examples: readonly Example[],
  accept: boolean,
): Promise<string[]> {
  const target = path.join(directory, 'README.md')
  const pictures = examples.flatMap(({ picture }) => (picture === null ? [] : [picture]))
  if (accept) {
    await rm(path.join(directory, 'pictures'), { recursive: true, force: true })
    await mkdir(path.join(directory, 'pictures'))
    await writeFile(target, page)
    for (const [name, bytes] of pictures) await writeFile(path.join(directory, 'pictures', name), bytes)
    return []
  }
  const differing = (await readFile(target, 'utf8').catch(() => '')) === page ? [] : [target]
  for (const [name, bytes] of pictures) {
    const file = path.join(directory, 'pictures', name)
    const accepted = await readFile(file).catch(() => null)
    // A PNG depends on the versions of fonts and libraries. An SVG is drawn by our own code.
    const isSame = name.endsWith('.svg') ? accepted?.equals(bytes) : accepted !== null && bytes.length > 5000
    if (!isSame) differing.push(file)
  }
  return differing
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accept: { type: 'boolean', default: false } },
})
const chosen = positionals.length === 0 ? Object.keys(languages) : positionals
const unknown = chosen.find((id) => !(id in languages))
if (unknown !== undefined) throw new Error(`there is no package for ${unknown}: ${Object.keys(languages).join(', ')}`)

let [passed, failed] = [0, 0]
await withService(await publishSample(), async (environment) => {
  for (const [id, language] of Object.entries(languages)) {
    if (!chosen.includes(id)) continue
    const directory = path.join(clients, id, 'examples')
    const { command, settings = {} } = await language.prepare()
    const files = (await readdir(directory)).filter((name) => /^\d\d.*\.(py|R|ts)$/.test(name)).toSorted()
    const examples: Example[] = []
    for (const file of files) {
      const example = await runExample(path.join(directory, file), language, command, {
        ...environment,
        ...settings,
      })
      examples.push({ ...example, output: normalise(example.output, environment['OUTBREAKS_URL'] ?? '') })
    }
    const differing = await compare(directory, renderPage(language, id, examples), examples, values.accept)
    for (const file of differing) console.log(`differs: ${path.relative(process.cwd(), file)}`)
    console.log(`${language.name}: ${examples.length} examples`)
    passed += examples.length - Math.min(differing.length, examples.length)
    failed += differing.length
  }
}).finally(() => rm(scratch, { recursive: true, force: true }))
console.log(`gallery: ${passed} passed, ${failed} failed`)
if (failed > 0) {
  console.log('`node clients/gallery/run.ts --accept` writes the pages; read the difference before you commit it')
  process.exitCode = 1
}
