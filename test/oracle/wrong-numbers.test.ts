// Numbers that an earlier version got wrong without a word, each built as small data: the true number, or a refusal.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Row, writeNdjson } from '../fixtures/releases.ts'
import { ask, askEvent, askPoints, askSum, assertRefused } from './ask.ts'
import { type Published, publish } from './published.ts'
import { skipWithoutPython } from './python.ts'

type Fields = Omit<Partial<Row>, 'key' | 'id'>

const skip = skipWithoutPython
const NO_COUNTS = { cases: null, deaths: null, hospitalised: null, recovered: null, tested: null }
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
const inUs = (level: string, cases: number, place: Fields = {}): Fields =>
  total('2025-01-07', cases, { country_code: 'US', country: 'United States', location_granularity: level, ...place })
const colorado = { al1_code: 'US-CO', admin_l1: 'Colorado' }
const stateWithId = add(
  'State_With_Id_2025',
  inUs('admin1', 110, { ...colorado, place_id: 'geonames:5417618' }),
  inUs('admin2', 60, { ...colorado, admin_l2: 'Adams' }),
)
const stateByName = add(
  'State_By_Name_2025',
  inUs('admin1', 110, { admin_l1: 'Colorado' }),
  inUs('admin2', 100, { ...colorado, admin_l2: 'Adams' }),
)
const abyei = { location_granularity: 'admin2', admin_l2: 'Abyei', place_id: 'geonames:1' }
const twoCodes = add(
  'Two_Codes_2011',
  total('2011-06-01', 100, { ...abyei, country_code: 'SD', country: 'Sudan' }),
  total('2011-08-01', 120, { ...abyei, country_code: 'SS', country: 'South Sudan' }),
)
const idAddedLater = add(
  'Id_Added_2020',
  total('2020-05-01', 100),
  total('2020-05-08', 150, { place_id: 'geonames:3175395' }),
)
const negativeWeek = add(
  'Negative_2020',
  ...['01', '02', '03'].map((day) => during(`2020-05-${day}`, `2020-05-${day}`, 10)),
  during('2020-05-01', '2020-05-03', -3),
)
const islands = add(
  'Islands_2016',
  ...Object.entries({
    'St. Croix, St. John, St. Thomas': 1031,
    'St. Croix': 257,
    'St. John': 89,
    'St. Thomas': 685,
  }).map(([locality, cases]) => total('2018-01-24', cases, { location_granularity: 'locality', locality })),
)
const clusters = add(
  'Clusters_2013',
  ...[3, 3, 1, 1].map((cases, i) =>
    during('2013-12-01', '2014-04-30', cases, { source_report: `cluster ${'dcba'[i]}` }),
  ),
)
const bulletins = add(
  'Bulletins_2020',
  total('2020-05-01', 9, { source_report: 'No. 9' }),
  total('2020-05-01', 8, { source_report: 'No. 10' }),
)
const startForDeaths = add('Start_For_Deaths_2020', total('2020-05-01', 5, { date_low: '2020-05-01', deaths: 1 }), {
  date_low: '2020-05-01',
  date_high: '2020-05-08',
  deaths: 2,
})
const silentParent = add(
  'Silent_Parent_2020',
  total('2020-05-01', 1000),
  total('2020-06-01', 50, province('A', 'IT-25')),
)
const townAndCounty = add(
  'Town_2025',
  inUs('admin2', 5, { ...colorado, admin_l2: 'Adams' }),
  inUs('locality', 3, { ...colorado, locality: 'Bent' }),
)
const india: Fields = { country_code: 'IN', country: 'India', location_granularity: 'admin1' }
const orissa = add(
  'Orissa_2011',
  total('2011-05-01', 150, { ...india, admin_l1: 'Orissa' }),
  total('2012-05-01', 210, { ...india, admin_l1: 'Odisha' }),
)
const kosovo = add(
  'Kosovo_2020',
  total('2020-05-01', 40, { country_code: 'XK', country: 'Kosovo' }),
  total('2020-05-01', 60),
)
const agesInCommon = add(
  'Ages_In_Common_2020',
  ...['0-4', '5-14', '0-14'].map((age_group) => during('2020-05-04', '2020-05-10', 10, { age_group })),
)
const years = add('Years_2013', total('2016-03-27', 28_616, { date_low: '2013-12-01', date_report: '2016-06-10' }))
const levels = add(
  'Levels_2025',
  inUs('country', 2286),
  inUs('admin1', 803, { al1_code: 'US-TX', admin_l1: 'Texas' }),
  inUs('admin1', 70, colorado),
)
const late = add(
  'Late_2016',
  ...(
    [
      ['2016-12-24', 35_870, '2016-12-24'],
      ['2016-12-31', 36_326, '2016-12-31'],
      ['2016-12-31', 39_040, '2017-12-28'],
    ] as const
  ).map(([day, cases, date_report]) =>
    total(day, cases, { count_kind: 'period_to_date', date_low: '2016-01-01', date_report }),
  ),
)
const undated = add('Undated_2004', { date_low: '2004-04-01', cases: 36, deaths: 27 })
const onlyCases = add(
  'Only_Cases_2025',
  ...[3, 9, 20].map((day, i) => {
    const date = `2025-12-${String(day).padStart(2, '0')}`
    return during(date, date, 1, i === 0 ? province('A') : province('B'))
  }),
)
const firstMonth = add(
  'First_Month_2010',
  total('2010-11-20', 60_240, { date_low: '2010-10-01', date_report: '2010-11-24' }),
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
  const byYear = await askPoints(published, 'year', restart)
  assert.deepEqual([byYear['2015']?.new.cases, byYear['2016']?.new.cases], [50, 80])
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

rowTest('6: a dip has no new count, and the rebound is the difference of both days together', async () => {
  const days = await askPoints(published, 'day', badDay)
  assert.deepEqual([days['2020-05-13']?.new.cases, days['2020-05-14']?.new.cases], [null, null])
  assert.deepEqual(await spansOf({ ...badDay, interval: 'day' }), [['2020-05-13', '2020-05-14', 20]])
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

const cumulativeOf = async (parameters: Record<string, string>) =>
  (await askSum(published, parameters)).cumulative.cases
const spansOf = async (parameters: Record<string, string>) =>
  (await ask(published, 'series', parameters)).spans.map((span) => [span.first_day, span.last_day, span.new.cases])

rowTest('D1: a state with an id covers its counties', async () =>
  assert.equal(await cumulativeOf({ ...stateWithId, place: 'US' }), 110),
)
rowTest('D2: a state with a name and no code is found by its code', async () =>
  assert.equal(await cumulativeOf({ ...stateByName, place: 'US-CO' }), 110),
)
rowTest('D3: one id with two country codes is one place', async () => assert.equal(await cumulativeOf(twoCodes), 120))
rowTest('W1: an id that is added later does not double a count', async () =>
  assert.equal(await cumulativeOf(idAddedLater), 150),
)
rowTest('W2: a negative correction of a period does not replace its counts', async () =>
  assert.equal((await askSum(published, negativeWeek)).new.cases, 27),
)
rowTest('W3: islands and the list of their names are counted once', async () => {
  assert.equal(await cumulativeOf(islands), 1031)
  assert.equal((await askEvent(published, islands.event))[0]?.cumulative.cases, 1031)
})
rowTest('W4: clusters of the same days are at least the greatest of them', async () => {
  const figure = await askSum(published, clusters)
  assert.deepEqual([figure.new.cases, figure.inexact], [3, true])
})
rowTest('W4: No. 10 is later than No. 9', async () => assert.equal(await cumulativeOf(bulletins), 8))
rowTest('W5: when counting began is known for all counts', async () => {
  const { new: counts } = await askSum(published, startForDeaths)
  assert.deepEqual([counts.cases, counts.deaths], [5, 2])
})
rowTest('W6: a silent parent does not look complete', async () => {
  const parameters = { ...silentParent, place: 'IT', date_from: '2020-06-01' }
  assert.equal((await askSum(published, parameters)).completeness['cases']?.share, null)
})
rowTest('W7: a town without its county is not added to the counties', async () =>
  assert.equal(await cumulativeOf({ ...townAndCounty, place: 'US' }), 5),
)
rowTest('W8: a renamed province without a code is one place', async () => assert.equal(await cumulativeOf(orissa), 210))
rowTest('W9: Kosovo is a country', async () => {
  assert.equal(await cumulativeOf(kosovo), 100)
  assert.equal(await cumulativeOf({ ...kosovo, place: 'XK' }), 40)
})
rowTest('W10: a total over years shows its first day', async () => {
  const { first_day, last_day } = await askSum(published, years)
  assert.deepEqual([first_day, last_day], ['2013-12-01', '2016-03-27'])
})
rowTest('W11: age groups with ages in common are refused', () =>
  assertRefused(published, 'sums', { ...agesInCommon, across: 'age_group' }, 'age_group'),
)
rowTest('M1: a total over years is a span, in series and in a ranking of one year', async () => {
  const months = await ask(published, 'series', { ...years, interval: 'month' })
  assert.deepEqual(
    months.points.map((point) => [point.period, point.new.cases, point.in_span]),
    [['2016-03', null, true]],
  )
  assert.deepEqual(await spansOf({ ...years, interval: 'month' }), [['2013-12-01', '2016-03-27', 28_616]])
  const ranking = await ask(published, 'sums', {
    event: [years.event, negativeWeek.event],
    ...{ group_by: 'event', sort: '-new_cases', date_from: '2016-01-01' },
  })
  assert.deepEqual(
    ranking.data.map(({ group, new: counts }) => [group['event'], counts.cases]),
    [
      [negativeWeek.event, 27],
      [years.event, null],
    ],
  )
  assert.deepEqual(ranking.spans[0]?.group, { event: years.event })
})
rowTest('M2: the country is beside the states, not a row among them', async () => {
  const { data, beside } = await ask(published, 'sums', { ...levels, group_by: 'admin_l1', sort: '-cumulative_cases' })
  assert.deepEqual(
    data.map(({ group, cumulative }) => [group['admin_l1'], cumulative.cases]),
    [
      ['Texas', 803],
      ['Colorado', 70],
    ],
  )
  assert.deepEqual(
    beside?.map(({ cumulative }) => cumulative.cases),
    [2286],
  )
})
rowTest('M3: late additions of a year do not fall on its last week', async () => {
  const weeks = await askPoints(published, 'isoweek', late)
  assert.equal(weeks['2016-W52']?.new.cases, 456)
  assert.deepEqual((await spansOf({ ...late, interval: 'isoweek' })).at(-1), ['2016-01-01', '2016-12-31', 2714])
})
rowTest('M4: an undated total is told, in JSON and in CSV', async () => {
  const series = await ask(published, 'series', { ...undated, interval: 'month' })
  assert.deepEqual([series.undated, series.undated_counts.cases, series.points.length], [1, 36, 0])
  assert.deepEqual((await askEvent(published, undated.event))[0]?.['undated'], { ...NO_COUNTS, cases: 36, deaths: 27 })
  const text = await published.text(`/series?event=${undated.event}&interval=month`, 'text/csv')
  const [names = [], values = []] = text.split('\r\n').map((line) => line.split(','))
  assert.equal(values[names.indexOf('row')], 'undated')
  assert.equal(values[names.indexOf('undated_cases')], '36')
})
rowTest('M6: places that report only cases have no share', async () => {
  const [month] = Object.values(await askPoints(published, 'month', onlyCases))
  assert.deepEqual(month?.completeness['cases'], { places_known: 0, places_reporting: 0, share: null })
})
rowTest('M7: values match without regard to case', async () => {
  assert.equal(await cumulativeOf({ event: 'LEVELS_2025', country_code: 'us', location_granularity: 'COUNTRY' }), 2286)
})
rowTest('M8: a total of the first month is interim', async () => {
  assert.equal((await askSum(published, firstMonth)).interim, true)
  assert.equal((await askEvent(published, firstMonth.event))[0]?.['interim'], true)
  assert.equal((await askSum(published, years)).interim, false)
})
