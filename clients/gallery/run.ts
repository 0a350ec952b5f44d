// node clients/gallery/run.ts [--accept] [python] [r] [typescript] [docs]: runs the examples of each package, and the blocks of
// the documentation, against a service with the sample. Compares the pages with what they print and draw. --accept writes them.
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { addFindings, type Findings, reportFindings } from '../report.ts'
import { publishSample, withService } from '../service.ts'
import { type Language, languages, prepareCommands } from './languages.ts'
import { comparePage, type Example, normalise, renderPage } from './page.ts'
import type { Commands } from './run-blocks.ts'
import { listExamplePages, runPages } from './run-pages.ts'

const runFile = promisify(execFile)
const clients = path.resolve(import.meta.dirname, '..')
const scratch = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-gallery-'))
const STATES = 'us-states.csv'
const TIMEOUT_MS = 120_000

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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { accept: { type: 'boolean', default: false } },
})
const DOCUMENTATION = 'docs'
const all = [...Object.keys(languages), DOCUMENTATION]
const chosen = positionals.length === 0 ? all : positionals
const unknown = chosen.find((id) => !all.includes(id))
if (unknown !== undefined) throw new Error(`there are no examples for ${unknown}: ${all.join(', ')}`)

const findings: Findings[] = []
const prepared: Record<string, Commands[string]> = {}
const published = await publishSample()
await withService(published, async (environment) => {
  for (const [id, language] of Object.entries(languages)) {
    if (!chosen.includes(id)) continue
    const directory = path.join(clients, id, 'examples')
    const tool = await language.prepare(scratch)
    const { command, settings = {} } = tool
    prepared[id] = tool
    const files = (await readdir(directory)).filter((name) => /^\d\d.*\.(py|R|ts)$/.test(name)).toSorted()
    const examples: Example[] = []
    for (const file of files) {
      const example = await runExample(path.join(directory, file), language, command, {
        ...environment,
        ...settings,
      })
      examples.push({ ...example, output: normalise(example.output, environment['OUTBREAKS_URL'] ?? '') })
    }
    const page = renderPage(language.name, id, examples)
    const differing = await comparePage(directory, page, examples, { accept: values.accept })
    const faults = differing.map((file) => `differs: ${path.relative(process.cwd(), file)}`)
    console.log(`${language.name}: ${examples.length} examples`)
    findings.push({ checks: examples.length, faults })
  }
  if (chosen.includes(DOCUMENTATION)) {
    const { databaseUrl, secret } = published.settings
    const operator = { DATABASE_URL: databaseUrl, OUTBREAKS_SECRET: secret, OUTBREAKS_FILES: published.files }
    const commands = await prepareCommands(scratch, prepared)
    const options = { environment: { ...environment, ...operator }, commands, accept: values.accept }
    const results = (await runPages(listExamplePages(), scratch, options)).filter(({ isSkipped }) => !isSkipped)
    const faults = results.flatMap(({ where, fault }) => (fault === null ? [] : [`${where}: ${fault}`]))
    findings.push({ checks: results.length, faults })
  }
}).finally(() => rm(scratch, { recursive: true, force: true }))
const found = addFindings(findings)
if (found.faults.length > 0)
  console.log('`node clients/gallery/run.ts --accept` writes the pages; read the difference before you commit it')
reportFindings('gallery', found)
