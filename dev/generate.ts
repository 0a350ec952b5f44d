// Generates the OpenAPI document, the data dictionary, the reference pages, the pictures and the record types of the client packages from the declarations.
// With --check it writes nothing and fails if a file is out of date.
import path from 'node:path'
import { pino } from 'pino'
import { buildApp } from '../src/app.ts'
import { catalogue } from '../src/datasets/catalogue.ts'
import { columnType, type Dataset, type Field, labelOf, labelOfValue } from '../src/datasets/define.ts'
import { hedOutbreaks } from '../src/datasets/hed-outbreaks.ts'
import { openDatabase } from '../src/platform/postgres/database.ts'
import { createWatcher } from '../src/platform/postgres/watcher.ts'
import { type OpenApiDocument, renderAnswers, renderParameters } from './client-answers.ts'
import { renderPython, renderR, renderTypeScript } from './client-records.ts'
import { findOutdated, writeGenerated } from './generated-files.ts'
import { renderPictures } from './pictures/concepts.ts'
import { renderPythonParameters } from './python-parameters.ts'
import { renderLimits } from './reference/limits.ts'
import { renderMcpTools } from './reference/mcp-tools.ts'
import { type ReferenceDocument, renderOperations } from './reference/operations.ts'
import { renderConfiguration, renderMetrics, renderOutbreakctl } from './reference/program.ts'

const root = path.resolve(import.meta.dirname, '..')

async function renderOpenApi(): Promise<string> {
  // The OpenAPI document needs no query, so there is no database server.
  const database = openDatabase({ url: 'postgres://user@127.0.0.1:1/none', role: 'outbreaks_api' })
  const app = await buildApp({
    service: {
      baseUrl: 'https://api.example.org',
      authUrl: 'https://auth.example.org',
      secret: Buffer.alloc(32),
      externalIssuer: null,
      maxStalenessSeconds: 60,
    },
    limits: {
      cacheMegabytes: 0,
      rateLimit: 6000,
      redisUrl: null,
      failedAttempts: 60,
      clientConcurrency: 8,
    },
    storage: { database, watcher: createWatcher(database, () => {}), indexDirectory: null },
    explorer: { publicClientId: null, oidc: null },
    runtime: { log: pino({ level: 'silent' }), isDraining: () => false },
  })
  await app.ready()
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`
  await app.close()
  await database.close()
  return text
}

function renderFields(dataset: Dataset): string {
  const nameChoice = ({ name }: Field, choice: string) => {
    const label = labelOfValue(dataset, name, choice)
    return label === choice ? `\`${choice}\`` : `\`${choice}\` (${label})`
  }
  const allowed = (field: Field) =>
    field.choices?.map((choice) => nameChoice(field, choice)).join(', ') ??
    field.vocabulary?.name ??
    (field.minimum === undefined ? '' : `${field.minimum} to ${field.maximum ?? '2^53-1'}`)
  const origin = (field: Field) => {
    if (!dataset.content.includes(field)) return 'assigned'
    return field.derive === undefined ? 'given' : 'derived'
  }
  const rows = dataset.fields.map(
    (field) =>
      `| ${field.name} | ${labelOf(dataset, field.name)} | ${field.kind} | ${columnType(field)} | ${field.nullable ? 'yes' : 'no'} | ${origin(field)} | ${allowed(field)} | ${field.description} |`,
  )
  return [
    `## ${dataset.name}`,
    '',
    `${dataset.title}. ${dataset.description}`,
    '',
    '| field | label | kind | column | null | origin | allowed | meaning |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

const dictionary = `# Data dictionary

Generated from the declarations in \`src/datasets/\` by \`npm run generate\`; do not edit by hand.
Every key is present in every record. Unknown is \`null\`, never an empty text, "NA" or 0. Dates are calendar days without a time zone.
A field is *given* by the operator, *derived* from the given ones, or *assigned* by the service.
The label of a field, and in brackets that of a value, is what people see. The [schema](reference/get-record-schema.md) of a release has them, too.

${catalogue.map(renderFields).join('\n\n')}
`

const openApi = await renderOpenApi()
const document = JSON.parse(openApi) as OpenApiDocument
const files = {
  'docs/openapi.json': openApi,
  'docs/data-dictionary.md': dictionary,
  ...renderOperations(JSON.parse(openApi) as ReferenceDocument),
  ...renderPictures(),
  'docs/reference/outbreakctl.md': renderOutbreakctl(),
  'docs/reference/metrics.md': renderMetrics(),
  'docs/reference/configuration.md': renderConfiguration(),
  'docs/reference/limits.md': renderLimits(),
  'docs/reference/mcp-tools.md': renderMcpTools(),
  'clients/typescript/src/generated/answers.ts': renderAnswers(document),
  'clients/typescript/src/generated/parameters.ts': renderParameters(document),
  'clients/typescript/src/generated/record.ts': renderTypeScript(hedOutbreaks),
  'clients/python/src/outbreaks/_generated/record.py': renderPython(hedOutbreaks),
  'clients/python/src/outbreaks/_generated/parameters.py': renderPythonParameters(document),
  'clients/r/R/record.R': renderR(hedOutbreaks),
}
if (!process.argv.includes('--check')) writeGenerated(root, files)
else
  for (const name of findOutdated(root, files)) {
    console.error(`${name} is out of date: run npm run generate`)
    process.exitCode = 1
  }
