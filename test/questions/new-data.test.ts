// The rule for recommended answers on tables that were not used to write it: dengue of all sources and Zika of all countries.
// The labels were written from the tables before the rule ran. Prints each disagreement.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { iso31661 } from 'iso-3166'
import { countryNamesOf } from '../../src/datasets/country-names.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { writeMapped } from '../fixtures/mappings.ts'
import { filesOf, readSource, skipIfAbsent } from '../fixtures/real-mappings.ts'
import { HOME, openRoutes } from '../fixtures/routes.ts'
import { zikaReports, zikaReportsMapping } from '../journeys/data/zika-mappings.ts'

type Values = Record<string, unknown>
interface Labelled {
  readonly question: string
  /** What a reader would take; null if nothing is the whole. */
  readonly set: Values | null
  readonly fine: readonly Values[]
}
interface Answer {
  readonly code?: string
  readonly detail?: string
  readonly chosen?: { values: Values; counts: Values; words: string }[]
}

const readLabels = <Label>(name: string) =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'labels', `${name}.json`), 'utf8')) as Record<string, Label>

async function openWith(directory: string, confirmedRejected: number) {
  const routes = await openRoutes()
  await publishRelease(routes.operator, hedOutbreaks, directory, { confirmedRejected })
  await routes.refresh()
  return routes
}

/** Asks for each total. Counts where the rule chooses, where it agrees with the reader, and where both take nothing. */
async function compare(
  name: string,
  leastAgreed: number,
  { inject }: Awaited<ReturnType<typeof openRoutes>>,
  labelled: readonly Labelled[],
) {
  const counts = { chosen: 0, agreed: 0, labelled: 0, bothNothing: 0 }
  for (const { question, set, fine } of labelled) {
    const { chosen = [], code, detail } = (await inject(`${HOME}/sums?${question}&detail=full`)).json<Answer>()
    const [found] = chosen
    if (set !== null) counts.labelled += 1
    if (found === undefined) {
      assert.equal(code, 'not_comparable', `${question}: ${code} ${detail}`)
      if (set === null) counts.bothNothing += 1
      else console.log(`${name}, ${question}: nothing (${detail}); the reader ${JSON.stringify(set)}`)
      continue
    }
    counts.chosen += 1
    const isLabel = (label: Values) => Object.entries(label).every(([field, value]) => found.values[field] === value)
    if (set !== null && [set, ...fine].some(isLabel)) counts.agreed += 1
    else
      console.log(`${name}, ${question}: ${found.words}, ${found.counts['cases']}; the reader ${JSON.stringify(set)}`)
  }
  console.log(`${name}: ${labelled.length} questions`, counts)
  assert.ok(counts.agreed / counts.chosen >= leastAgreed, `${counts.agreed} of ${counts.chosen}`)
}

test('Zika: every country of which several counts exist', { skip: skipIfAbsent('cdcepi-zika') }, async () => {
  const routes = await openWith(await writeMapped(zikaReportsMapping(), { linked: zikaReports() }), 179)
  const labels = readLabels<{ set: Values | null; also_fine: Values[] }>('zika-by-country')
  await compare(
    'zika',
    0.85,
    routes,
    Object.entries(labels).map(([country, { set, also_fine: fine }]) => ({
      question: `event=Zika_Americas_2015&country_code=${country}`,
      set,
      fine,
    })),
  )
})

/** The source of a row is who counted: `WHO/PAHO` of `WHO/PAHO-ALL-2014/2022-W01`. */
function dengueMapping(codes: ReadonlyMap<string, string>) {
  const { columns } = readSource('opendengue') as { columns: Values }
  const source = { from: 'sourceID', split: { by: '-', part: 0 } }
  const byCode = (name: (code: string) => string) => ({
    from: 'ISO_A0',
    map: Object.fromEntries([...codes].map(([iso3, code]) => [iso3, name(code)])),
  })
  return {
    key: ['sourceID', 'ISO_A0', 'calendar_start_date', 'calendar_end_date', 'dengue_total'],
    columns: {
      ...columns,
      event: { join: [{ constant: 'Dengue_' }, byCode((code) => code), { constant: '_1924' }] },
      country_code: byCode((code) => code),
      country: byCode((code) => countryNamesOf(code)[0] ?? code),
      source_name: source,
      source_type: {
        ...source,
        map: { MOH: 'official', LITERATURE: 'literature', TYCHO: 'composite' },
        otherwise: { constant: 'international' },
      },
    },
  }
}

test('dengue: every country with several sources', { skip: skipIfAbsent('opendengue') }, async () => {
  const file = filesOf('opendengue/National_extract_V1_1.csv')[0] ?? assert.fail()
  const rows: Record<string, string>[] = parse(readFileSync(file), { columns: true })
  const all = new Map(iso31661.map(({ alpha2, alpha3 }) => [alpha3, alpha2]))
  const codes = new Map(rows.map(({ ISO_A0: iso3 = '' }) => [iso3, all.get(iso3) ?? assert.fail(iso3)]))
  const routes = await openWith(await writeMapped(dengueMapping(codes), { linked: { 'dengue.csv': file } }), 267)
  type Label = Record<string, { source: string | null; also_fine: string[] }>
  for (const [days, labels] of Object.entries(readLabels<Label>('dengue-by-country'))) {
    const [from, to] = days.split('-')
    const range = to === undefined ? '' : `&date_from=${from}-01-01&date_to=${to}-12-31`
    await compare(
      `dengue, ${days}`,
      to === undefined ? 0.9 : 0.65,
      routes,
      Object.entries(labels).map(([iso3, { source, also_fine: fine }]) => ({
        question: `disease=Dengue&country_code=${codes.get(iso3)}${range}`,
        set: source === null ? null : { source_name: source },
        fine: fine.map((name) => ({ source_name: name })),
      })),
    )
  }
})
