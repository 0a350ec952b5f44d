// Numbers that an earlier version got wrong without a word, each built as small data: the true number, or a refusal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Row, writeNdjson } from '../fixtures/releases.ts'
import { ask, askEvent, askPoints, askSum, assertRefused } from './ask.ts'
import { type Published, publish } from './published.ts'
import { skipWithoutPython } from './python.ts'

type Fields = Omit<Partial<Row>, 'key' | 'id'>

const skip = skipWithoutPython
const base: Fields = { country_code: 'IT', country: 'Italy', host: 'human', date_type: 'report' }
const rows: Row[] = []
/** Adds the rows of an event. */
function add(event: string, ...reports: Fields[]): { event: string } {
  for (const report of reports) rows.push({ key: `${event} ${rows.length}`, ...base, event, ...report })
  return { event }
}
const total = (day: string, cases: number, more: Fields = {}): Fields => ({ date_high: day, cases, ...more })
const during = (date_low: string, date_high: string, cases: number, more: Fields = {}): Fields => ({
  count_kind: 'new',
  date_low,
  date_high,
  cases,
  ...more,
})
const province = (admin_l1: string, al1_code: string | null = null): Fields => ({
  location_granularity: 'admin1',
  admin_l1,
  al1_code,
})

const onsetAndReport = add('Onset_2020', total('2020-05-01', 100), total('2020-05-01', 90, { date_type: 'onset' }))
const compositeAndRaw = add('Composite_2020', total('2020-05-01', 100), total('2020-05-01', 90, { composite: true }))
const fiveSources = add(
  'Five_Sources_2020',
  ...[80, 120, 160, 180, 200].map((cases, i) =>
    total(`2020-05-0${i + 1}`, cases, { source_name: `Situation report ${i}` }),
  ),
)
const fiveReports = add(
  'Five_Reports_2020',
  ...[80, 120, 160, 180, 200].map((cases, i) => total(`2020-05-0${i + 1}`, cases, { source_report: `Report ${i}` })),
)
const restart = add(
  'Restart_2015',
  total('2015-12-31', 50, { date_low: '2015-01-01' }),
  total('2016-06-30', 80, { date_low: '2016-01-01' }),
)
const hosts = add(
  'Hosts_2020',
  during('2020-05-04', '2020-05-10', 40),
  during('2020-05-04', '2020-05-10', 7, { host: 'animal' }),
)
const ages = add(
  'Ages_2020',
  ...[20, 30, 50].map((cases, i) =>
    during('2020-05-04', '2020-05-10', cases, { age_group: ['0-4', '5-14', '15+'][i] ?? '' }),
  ),
)
const separateRows = add('Separate_Rows_2020', total('2020-05-01', 130), { date_high: '2020-05-01', deaths: 9 })
const badDay = add(
  'Bad_Day_2020',
  ...[1000, 1010, 1020, 700, 1040, 1050, 1060, 1070].map((cases, i) => total(`2020-05-${String(10 + i)}`, cases)),
)
const fallingProvince = add(
  'Falling_Province_2020',
  ...[total('2020-05-10', 500, province('A')), total('2020-05-17', 530, province('A'))],
  ...[total('2020-05-10', 300, province('B')), total('2020-05-17', 310, province('B'))],
  ...[total('2020-05-10', 200, province('C')), total('2020-05-17', 190, province('C'))],
)
const reportedAgain = add(
  'Reported_Again_2020',
  ...[
    during('2020-05-04', '2020-05-10', 40, { date_report: '2020-05-11' }),
    during('2020-05-11', '2020-05-17', 50, { date_report: '2020-05-18' }),
  ],
  ...[
    during('2020-05-04', '2020-05-10', 45, { date_report: '2020-05-18' }),
    during('2020-05-11', '2020-05-17', 60, { date_report: '2020-05-25' }),
  ],
)
const weeksAndMonth = add(
  'Weeks_And_Month_2021',
  ...[20, 30, 25, 15].map((cases, i) =>
    during(`2021-02-${String(1 + 7 * i).padStart(2, '0')}`, `2021-02-${String(7 + 7 * i).padStart(2, '0')}`, cases),
  ),
  during('2021-02-01', '2021-02-28', 90),
)
const twoCountries = add(
  'Two_Countries_2020',
  total('2020-05-01', 900, { deaths: 2 }),
  total('2020-05-01', 30, { deaths: 25, country_code: 'FR', country: 'France' }),
)
const renamed = add(
  'Renamed_2020',
  total('2020-05-01', 150, province('Zhytomyr Oblast', 'IT-62')),
  total('2020-05-08', 210, province('Zhytomyr', 'IT-62')),
)
const decomposed = add(
  'Decomposed_2020',
  total('2020-05-01', 150, province('Córdoba')),
  total('2020-05-08', 210, province('Co\u0301rdoba')),
)
const sameDay = add(
  'Same_Day_2020',
  total('2020-05-01', 100),
  total('2020-05-02', 130, { date_report: '2020-05-02' }),
  total('2020-05-02', 128, { date_report: '2020-05-03' }),
)
const silent = add(
  'Silent_2020',
  ...[
    total('2020-03-08', 900, province('A')),
    total('2020-03-15', 950, province('A')),
    total('2020-03-08', 100, province('B')),
  ],
)

const published = skip === false ? await publish([{ directory: await writeNdjson(rows) }]) : ({} as Published)
function rowTest(title: string, run: () => Promise<void>): void {
  test(title, { skip }, run)
}

rowTest('1b: days of onset and days of report are refused', () =>
  assertRefused(published, 'series', { interval: 'month', ...onsetAndReport }, 'date_type'),
)
rowTest('1b: with date_type the number is that of one kind of day', async () =>
  assert.equal((await askSum(published, { ...onsetAndReport, date_type: 'onset' })).cumulative.cases, 90),
)
rowTest('1b: composite and raw series are refused', () =>
  assertRefused(published, 'sums', compositeAndRaw, 'composite'),
)
rowTest('1b: with composite=false the number is that of the raw series', async () =>
  assert.equal((await askSum(published, { ...compositeAndRaw, composite: 'false' })).cumulative.cases, 100),
)
rowTest('1b: strict=true refuses days of onset and days of report in a list', () =>
  assertRefused(published, 'outbreaks', { strict: 'true', ...onsetAndReport }, 'date_type'),
)
rowTest('1b: strict=true refuses composite and raw series in a list', () =>
  assertRefused(published, 'outbreaks', { strict: 'true', ...compositeAndRaw }, 'composite'),
)

rowTest('3: five reports with a source name each are refused', () =>
  assertRefused(published, 'series', { interval: 'month', ...fiveSources }, 'source_name'),
)
rowTest('3: five reports with a source name each are five groups, and the range is 80 to 200', async () => {
  const { groups, range } = await ask(published, 'series', {
    interval: 'month',
    group_by: 'source_name',
    ...fiveSources,
  })
  assert.equal(groups.length, 5)
  assert.deepEqual(range[0]?.cumulative['cases'], { min: 80, max: 200 })
})
rowTest('3: five reports of one source are one series with 200 cases', async () =>
  assert.equal((await askSum(published, fiveReports)).cumulative.cases, 200),
)
rowTest('3: an event with five sources has five figures', async () => {
  const figures = await askEvent(published, fiveSources.event)
  assert.deepEqual(figures.map(({ cumulative }) => String(cumulative.cases)).sort(), ['120', '160', '180', '200', '80'])
})

rowTest('4c: after a restart the whole count is new', async () => {
  const years = await askPoints(published, 'year', restart)
  assert.deepEqual([years['2015']?.new.cases, years['2016']?.new.cases], [50, 80])
})
rowTest('4c: the sum of both years is 130', async () => assert.equal((await askSum(published, restart)).new.cases, 130))

rowTest('5: human and animal counts are refused', () => assertRefused(published, 'sums', hosts, 'host'))
rowTest('5: the human count is not replaced by the animal count', async () =>
  assert.equal((await askSum(published, { ...hosts, host: 'human' })).new.cases, 40),
)
rowTest('5: both are added on purpose', async () =>
  assert.equal((await askSum(published, { ...hosts, across: 'host' })).new.cases, 47),
)
rowTest('5b: age groups are refused', () => assertRefused(published, 'sums', ages, 'age_group'))
rowTest('5b: three age groups make 100 a week', async () => {
  const weeks = await askPoints(published, 'isoweek', { ...ages, across: 'age_group' })
  assert.equal(weeks['2020-W19']?.new.cases, 100)
})
rowTest('5c: cases and deaths in separate rows are merged', async () => {
  const { cumulative } = await askSum(published, separateRows)
  assert.deepEqual([cumulative.cases, cumulative.deaths], [130, 9])
})
rowTest('5c: the event has both counts', async () => {
  const [figure] = await askEvent(published, separateRows.event)
  assert.deepEqual([figure?.cumulative.cases, figure?.cumulative.deaths], [130, 9])
})

rowTest('6: the day of a dip has no new count, and the next day has the difference to the day before it', async () => {
  const days = await askPoints(published, 'day', badDay)
  assert.deepEqual([days['2020-05-13']?.new.cases, days['2020-05-14']?.new.cases], [null, 20])
})
rowTest('6: a dip is marked as a revision', async () => {
  const days = await askPoints(published, 'day', badDay)
  assert.deepEqual(
    [12, 13, 14, 15].map((day) => days[`2020-05-${day}`]?.revision),
    [false, true, true, false],
  )
})
rowTest('6b: one bad day does not remove the number of its week', async () => {
  const weeks = await askPoints(published, 'isoweek', badDay)
  assert.equal(weeks['2020-W20']?.new.cases, 1070 - 1000)
})
rowTest('6b: one bad day does not remove the number of its month', async () => {
  const months = await askPoints(published, 'month', badDay)
  assert.equal(months['2020-05']?.new.cases, 70)
})
rowTest('6c: a province that falls is a correction of the sum', async () => {
  const weeks = await askPoints(published, 'isoweek', fallingProvince)
  assert.deepEqual([weeks['2020-W20']?.new.cases, weeks['2020-W20']?.revision], [30 + 10 - 10, true])
})

rowTest('8: weeks that are reported again count once in series', async () =>
  assert.equal((await askPoints(published, 'month', reportedAgain))['2020-05']?.new.cases, 105),
)
rowTest('8: weeks that are reported again count once in events', async () =>
  assert.equal((await askEvent(published, reportedAgain.event))[0]?.new.cases, 105),
)
rowTest('8: weeks and their month count once in series', async () =>
  assert.equal((await askPoints(published, 'month', weeksAndMonth))['2021-02']?.new.cases, 90),
)
rowTest('8: weeks and their month count once in events', async () =>
  assert.equal((await askEvent(published, weeksAndMonth.event))[0]?.new.cases, 90),
)
rowTest('8: the figure of an event adds the countries; it does not take the largest cases and deaths', async () => {
  const [figure, ...others] = await askEvent(published, twoCountries.event)
  assert.deepEqual(
    [figure?.cumulative.cases, figure?.cumulative.deaths, figure?.['places'], others.length],
    [930, 27, 2, 0],
  )
})

rowTest('9: a renamed province with its code is one place with 210 cases', async () =>
  assert.equal((await askSum(published, renamed)).cumulative.cases, 210),
)
rowTest('9: a renamed province has 60 new cases in its second week', async () =>
  assert.equal((await askPoints(published, 'isoweek', renamed))['2020-W19']?.new.cases, 60),
)
rowTest('9: a decomposed name is the same place with 210 cases', async () =>
  assert.equal((await askSum(published, decomposed)).cumulative.cases, 210),
)

rowTest('10: a revision of one day is no fall: 28 new cases', async () => {
  const point = (await askPoints(published, 'day', sameDay))['2020-05-02']
  assert.deepEqual([point?.new.cases, point?.cumulative.cases, point?.revision], [28, 128, false])
})
rowTest('11: a silent place keeps its cumulative count', async () => {
  const week = (await askPoints(published, 'isoweek', silent))['2020-W11']
  assert.deepEqual([week?.new.cases, week?.cumulative.cases], [50, 1050])
})
rowTest('11: the answer says that one of two places reports', async () => {
  const week = (await askPoints(published, 'isoweek', silent))['2020-W11']
  assert.deepEqual(week?.completeness['cases'], { places_known: 2, places_reporting: 1, share: 0.9048 })
})
