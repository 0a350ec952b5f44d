// Numbers that an earlier version got wrong without a word, each built as small data: the true number, or a rejection.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ages,
  agesInCommon,
  aroundItaly,
  badDay,
  bulletins,
  clusters,
  compositeAndRaw,
  deathsOnly,
  decomposed,
  fallingProvince,
  firstMonth,
  fiveReports,
  fiveSources,
  hosts,
  idAddedLater,
  islands,
  kosovo,
  late,
  levels,
  menAndEveryone,
  negativeWeek,
  onlyCases,
  onsetAndReport,
  orissa,
  otherPart,
  renamed,
  reportedAgain,
  restart,
  rows,
  sameDay,
  separateRows,
  silent,
  silentParent,
  startForDeaths,
  stateByName,
  stateWithId,
  townAndCounty,
  twoCodes,
  twoCountries,
  undated,
  weeksAndMonth,
  years,
} from '../fixtures/oracle/wrong-numbers.ts'
import { writeNdjson } from '../fixtures/releases.ts'
import { ask, askEvent, askPoints, askSum, assertRefused } from './ask.ts'
import { type Published, publish } from './published.ts'
import { skipWithoutPython } from './python.ts'

const skip = skipWithoutPython
const NO_COUNTS = { cases: null, deaths: null, hospitalised: null, recovered: null, tested: null }

const published = skip === false ? await publish([{ directory: await writeNdjson(rows) }]) : ({} as Published)
function rowTest(title: string, run: () => Promise<void>): void {
  test(title, { skip }, run)
}

rowTest('1b: days of onset and days of report are refused', () =>
  assertRefused(published, 'series', { strict: 'true', interval: 'month', ...onsetAndReport }, 'date_type'),
)
rowTest('1b: with date_type the number is that of one kind of day', async () =>
  assert.equal((await askSum(published, { ...onsetAndReport, date_type: 'onset' })).cumulative.cases, 90),
)
rowTest('1b: composite and raw series are refused', () =>
  assertRefused(published, 'sums', { strict: 'true', ...compositeAndRaw }, 'composite'),
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
rowTest('C1: a filter on the level hides no other place', () =>
  assertRefused(published, 'sums', { ...otherPart, location_granularity: 'admin1' }, 'date_type'),
)
rowTest('C1: nor does a group of the level', () =>
  assertRefused(published, 'sums', { ...otherPart, group_by: 'location_granularity' }, 'date_type'),
)
rowTest('C2: a record outside of the place is no way of counting it', async () => {
  const { data, chosen } = await ask(published, 'sums', { ...aroundItaly, place: 'world' })
  assert.deepEqual([data[0]?.cumulative.cases, chosen.length], [100, 0])
})
rowTest('C3: the men of one event are not added to everyone of another', () =>
  assertRefused(published, 'sums', menAndEveryone, 'sex'),
)
rowTest('C4: a set without the count is left out for this reason', async () => {
  const { data, left_out } = await ask(published, 'sums', deathsOnly)
  assert.equal(data[0]?.total.cases, 30)
  assert.deepEqual(
    left_out.map(({ because, reason }) => [because, reason]),
    [['count', 'It does not have the requested count.']],
  )
})
