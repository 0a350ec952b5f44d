// The four small releases behind the recorded answers in clients/vectors: added, corrected and withdrawn records, text
// beyond ASCII, two sources that may not be added up, and more than one hundred of ids.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { type Content, inputFields } from '../src/datasets/define.ts'
import { hedOutbreaks } from '../src/datasets/hed-outbreaks.ts'
import { outbreakctl, type Settings } from './service.ts'

type Row = Partial<Content> & { key: string }

const shared: Content = {
  ...Object.fromEntries(inputFields(hedOutbreaks).map((field) => [field.name, null])),
  event: 'Measles_Testland_2024',
  pathogen: 'Measles morbillivirus',
  disease: 'Measles',
  country_code: 'XA',
  country: 'Testland',
  location_granularity: 'country',
  date_inferred: false,
  case_status: 'confirmed',
  count_kind: 'new',
  count_qualifier: 'exact',
  composite: false,
  source_name: 'Ministère de la Santé',
  verification: 'verified',
  extra: {},
}

const cholera = { event: 'Cholera_Testland_2020', pathogen: 'Vibrio cholerae', disease: 'Cholera', count_kind: 'new' }
const week = (
  key: string,
  date_low: string,
  date_high: string,
  cases: number | null,
  more: Partial<Content> = {},
): Row => ({
  ...{ key, date_low, date_high, cases, deaths: 0 },
  ...more,
})

const measles = (cases: number) => week('m2', '2024-01-08', '2024-01-14', cases)
const releases: { as_of: string; rows: Row[]; withdrawn: string[] }[] = [
  {
    as_of: '2024-01-14',
    rows: [
      week('m1', '2024-01-01', '2024-01-07', 3),
      measles(5),
      week('c1', '2020-03-02', '2020-03-08', 40, cholera),
      week('c2', '2020-03-02', '2020-03-08', 55, { ...cholera, source_name: 'Relief agency' }),
      week('old', '2020-03-09', '2020-03-15', 9, cholera),
    ],
    withdrawn: [],
  },
  { as_of: '2024-01-21', rows: [measles(6), week('m3', '2024-01-15', '2024-01-21', null)], withdrawn: [] },
  { as_of: '2024-01-28', rows: [week('m4', '2024-01-22', '2024-01-28', 1)], withdrawn: [] },
  {
    as_of: '2024-02-04',
    rows: [measles(7), week('m5', '2024-01-29', '2024-02-04', 2, { note: 'Corrigé « le 5 février » 🦠' })],
    withdrawn: ['old'],
  },
]

/** Publishes the releases and exports their files to OUTBREAKS_FILES, if it is set. */
export async function publishVectorReleases(settings: Settings): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'outbreaks-vectors-'))
  try {
    for (const [index, { as_of, rows, withdrawn }] of releases.entries()) {
      const release = path.join(directory, String(index + 1))
      await mkdir(release)
      const base = index === 0 ? {} : { base: index }
      const manifest = { title: `Vectors ${index + 1}`, licence: 'CC0-1.0', as_of, ...base }
      await writeFile(path.join(release, 'release.json'), JSON.stringify(manifest))
      const lines = rows.map((row) => `${JSON.stringify({ ...shared, ...row })}\n`)
      await writeFile(path.join(release, 'records.ndjson'), lines.join(''))
      if (withdrawn.length > 0)
        await writeFile(path.join(release, 'withdrawn.csv'), ['key', ...withdrawn, ''].join('\n'))
      const confirm = withdrawn.length === 0 ? [] : ['--confirm-withdrawn', String(withdrawn.length)]
      await outbreakctl(settings, 'release', 'publish', release, ...confirm)
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
