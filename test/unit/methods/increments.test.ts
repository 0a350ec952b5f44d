// The rules of docs/methods.md, sections 2 to 4, each with its example.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatDay, parseDay } from '../../../src/methods/calendar.ts'
import { type CountKind, deriveSteps, type Report, type Step } from '../../../src/methods/increments.ts'

let nextId = 1
const report = (low: string | null, high: string | null, cases: number | null, more: Partial<Report> = {}): Report => ({
  id: nextId++,
  first: low === null ? null : parseDay(low),
  last: high === null ? null : parseDay(high),
  ...{ reported: null, sourceReport: null, definition: null, exact: true },
  counts: [cases],
  ...more,
})
const on = (day: string, cases: number | null, more: Partial<Report> = {}) => report(null, day, cases, more)

/** Day, rule and new count of each step, in the order of days. */
const derive = (kind: CountKind, reports: readonly Report[]) =>
  deriveSteps(kind, reports)
    .toSorted((a, b) => a.day - b.day || a.id - b.id)
    .map(({ day, rule, increment }) => [formatDay(day), rule, increment])

const sum = (steps: readonly Step[]) => steps.reduce((total, { increment }) => total + (increment ?? 0), 0)

describe('the day of a report', () => {
  test('a period-to-date count without its last day is undated: it is not put on the first day', () => {
    assert.deepEqual(derive('period_to_date', [report('2016-01-01', null, 37_417)]), [])
    assert.deepEqual(derive('period_to_date', [on('2016-08-04', 9736)]), [])
  })
  test('a new count has the day that is known', () => {
    assert.deepEqual(derive('new', [report('2020-03-02', null, 5), on('2020-03-09', 7)]), [
      ['2020-03-02', 'counted', 5],
      ['2020-03-09', 'counted', 7],
    ])
  })
  test('a cumulative count without its last day is undated', () => {
    assert.deepEqual(derive('cumulative', [report('2020-03-02', null, 5)]), [])
  })
})

describe('several reports of the same days', () => {
  test('are merged count by count', () => {
    const steps = deriveSteps('new', [
      on('2020-03-02', null, { counts: [130, null] }),
      on('2020-03-02', null, { counts: [null, 9] }),
    ])
    assert.deepEqual(
      steps.map(({ count, rule, increment }) => [count, rule, increment]),
      [
        [0, 'counted', 130],
        [1, 'counted', 9],
      ],
    )
  })
  test('a same-day revision is not a decrease', () => {
    const reports = [
      on('2020-05-01', 100),
      on('2020-05-02', 130, { reported: '2020-05-02' }),
      on('2020-05-02', 128, { reported: '2020-05-03' }),
    ]
    assert.deepEqual(derive('cumulative', reports), [
      ['2020-05-01', 'first_report', null],
      ['2020-05-02', 'superseded', null],
      ['2020-05-02', 'difference', 28],
    ])
    assert.deepEqual(derive('cumulative', reports), derive('cumulative', reports.toReversed()))
  })
  test('the later report has the later date, then the greater number in its name, then the greater count', () => {
    const winner = (a: Partial<Report>, b: Partial<Report>) =>
      derive('new', [on('2020-03-02', 5, a), on('2020-03-02', 3, b)]).find(([, rule]) => rule === 'counted')?.[2]
    assert.equal(winner({ reported: null }, { reported: '2020-03-03' }), 3)
    assert.equal(winner({ reported: '2020-03-04' }, { reported: '2020-03-03', sourceReport: 'z' }), 5)
    assert.equal(winner({ sourceReport: 'Report 1' }, { sourceReport: 'Report 2' }), 3)
    assert.equal(winner({}, {}), 5)
    assert.equal(winner({ sourceReport: 'No. 9' }, { sourceReport: 'No. 10' }), 3)
    assert.equal(winner({ sourceReport: 'No. 9' }, { sourceReport: 'Annex 10' }), 5)
  })
  test('if nothing tells which one is later, the greatest count is a lower bound', () => {
    const clusters = [3, 3, 1, 1].map((cases, i) => on('2014-04-30', cases, { sourceReport: `cluster ${'abcd'[i]}` }))
    const used = deriveSteps('new', clusters).filter(({ rule }) => rule !== 'superseded')
    assert.deepEqual(
      used.map(({ value, isLowerBound }) => [value, isLowerBound]),
      [[3, true]],
    )
    const [same] = deriveSteps('new', [on('2020-03-02', 3), on('2020-03-02', 3)]).filter(
      ({ rule }) => rule === 'counted',
    )
    assert.equal(same?.isLowerBound, false)
  })
  test('a total that is published weeks later adds to the whole period, not to its last day', () => {
    const reports = [
      report('2016-01-01', '2016-12-23', 35_870, { reported: '2016-12-23' }),
      report('2016-01-01', '2016-12-31', 36_326, { reported: '2016-12-31' }),
      report('2016-01-01', '2016-12-31', 38_000, { reported: '2017-02-01' }),
      report('2016-01-01', '2016-12-31', 39_040, { reported: '2017-12-28' }),
    ]
    const steps = deriveSteps('period_to_date', reports).toSorted((a, b) => a.id - b.id)
    assert.deepEqual(
      steps.map(({ rule, increment, firstDay }) => [rule, increment, formatDay(firstDay)]),
      [
        ['since_start', 35_870, '2016-01-01'],
        ['difference', 456, '2016-12-24'],
        ['superseded', null, '2016-12-31'],
        ['late', 2714, '2016-01-01'],
      ],
    )
    assert.equal(sum(steps), 39_040)
  })
  test('of equal counts the one that began first is taken, whatever the order', () => {
    const reports = [report('2020-03-05', '2020-03-10', 4), report('2020-03-01', '2020-03-10', 4), on('2020-03-10', 4)]
    for (const ordered of [reports, reports.toReversed()]) {
      const used = deriveSteps(
        'cumulative',
        ordered.map((one, i) => ({ ...one, id: i + 1 })),
      ).filter(({ rule }) => rule !== 'superseded')
      assert.deepEqual(
        used.map(({ increment, firstDay }) => [increment, formatDay(firstDay)]),
        [[4, '2020-03-01']],
      )
    }
  })
  test('a late total of the first day of an unknown beginning is the first report', () => {
    const reports = [on('2016-12-31', 10, { reported: '2016-12-31' }), on('2016-12-31', 12, { reported: '2017-02-01' })]
    assert.deepEqual(derive('cumulative', reports), [
      ['2016-12-31', 'superseded', null],
      ['2016-12-31', 'first_report', null],
    ])
  })
})

describe('new counts', () => {
  const weeks = [
    report('2021-02-01', '2021-02-07', 20),
    report('2021-02-08', '2021-02-14', 30),
    report('2021-02-15', '2021-02-21', 25),
    report('2021-02-22', '2021-02-28', 15),
  ]
  const month = report('2021-02-01', '2021-02-28', 90)
  test('weeks and their month are not added up', () => {
    const steps = deriveSteps('new', [...weeks, month])
    assert.equal(sum(steps), 90)
    assert.equal(steps.filter(({ rule }) => rule === 'overlap')[0]?.id, month.id)
  })
  test('the month is taken if a week is missing', () => {
    const steps = deriveSteps('new', [...weeks.slice(1), month])
    assert.deepEqual(
      steps.filter(({ rule }) => rule === 'counted').map(({ id }) => id),
      [month.id],
    )
  })
  test('of two equal sets, the one with the later first day of its last report is taken', () => {
    const sets = [
      report('2021-01-01', '2021-01-07', 1),
      report('2021-01-01', '2021-01-06', 2),
      report('2021-01-07', '2021-01-14', 4),
      report('2021-01-08', '2021-01-14', 8),
    ]
    assert.equal(sum(deriveSteps('new', sets)), 9)
  })
  test('sliding windows are not counted twice', () => {
    const windows = ['01', '08', '15', '22'].map((day, i) =>
      report(`2021-03-${day}`, formatDay(parseDay(`2021-03-${day}`) + 13), 10 + i),
    )
    assert.equal(sum(deriveSteps('new', windows)), 11 + 13)
  })
  test('a negative count is added with its sign', () => {
    assert.equal(sum(deriveSteps('new', [on('2020-03-02', 10), on('2020-03-03', -4)])), 6)
  })
  test('a negative count over a period does not replace the counts that it corrects', () => {
    const days = ['01', '02', '03'].map((day) => on(`2020-03-${day}`, 10))
    assert.equal(sum(deriveSteps('new', [...days, report('2020-03-01', '2020-03-03', -3)])), 27)
  })
})

describe('cumulative counts', () => {
  test('a dip and its rebound are one revision: COVID-19 in France', () => {
    assert.deepEqual(
      derive('cumulative', [
        on('2020-11-03', 1_597_139),
        on('2020-11-04', 1_549_838),
        on('2020-11-05', 1_607_147),
        on('2020-11-06', 1_661_853),
      ]),
      [
        ['2020-11-03', 'first_report', null],
        ['2020-11-04', 'dip', null],
        ['2020-11-05', 'rebound', 10_008],
        ['2020-11-06', 'difference', 54_706],
      ],
    )
  })
  test('a decrease that lasts is a correction', () => {
    assert.deepEqual(
      derive('cumulative', [
        on('2020-05-01', 100),
        on('2020-06-01', 200),
        on('2020-07-01', 150),
        on('2020-08-01', 160),
      ]),
      [
        ['2020-05-01', 'first_report', null],
        ['2020-06-01', 'difference', 100],
        ['2020-07-01', 'correction', -50],
        ['2020-08-01', 'difference', 10],
      ],
    )
  })
  test('a dip ends with the next report, or after at most seven days', () => {
    const rules = (days: [string, number][]) =>
      derive(
        'cumulative',
        days.map(([day, cases]) => on(day, cases)),
      ).map(([, rule]) => rule)
    assert.deepEqual(
      rules([
        ['2020-05-01', 9],
        ['2020-06-01', 8],
        ['2020-08-01', 9],
      ]),
      ['first_report', 'dip', 'rebound'],
    )
    assert.deepEqual(
      rules([
        ['2020-05-01', 9],
        ['2020-05-02', 7],
        ['2020-05-03', 8],
        ['2020-05-09', 9],
      ]),
      ['first_report', 'dip', 'dip', 'rebound'],
    )
    assert.deepEqual(
      rules([
        ['2020-05-01', 9],
        ['2020-05-02', 7],
        ['2020-05-03', 8],
        ['2020-05-10', 9],
      ]),
      ['first_report', 'correction', 'difference', 'difference'],
    )
  })
  test('a restart is seen by the day on which counting began', () => {
    assert.deepEqual(
      derive('cumulative', [report('2015-01-01', '2015-12-31', 50), report('2016-01-01', '2016-06-30', 80)]),
      [
        ['2015-12-31', 'since_start', 50],
        ['2016-06-30', 'restart', 80],
      ],
    )
  })
  test('after a restart, a count that began before it is left out', () => {
    assert.deepEqual(
      derive('cumulative', [
        report('2015-01-01', '2015-12-31', 50),
        report('2016-01-01', '2016-01-31', 8),
        report('2015-01-01', '2016-02-28', 62),
        report('2016-01-01', '2016-03-31', 20),
      ]),
      [
        ['2015-12-31', 'since_start', 50],
        ['2016-01-31', 'restart', 8],
        ['2016-02-28', 'earlier_start', null],
        ['2016-03-31', 'difference', 12],
      ],
    )
  })
  test('a source that writes the day of the report into both dates has no known start', () => {
    assert.deepEqual(
      derive(
        'cumulative',
        [1, 2, 3].map((day) => report(`2020-03-0${day}`, `2020-03-0${day}`, 10 * day)),
      ),
      [
        ['2020-03-01', 'first_report', null],
        ['2020-03-02', 'difference', 10],
        ['2020-03-03', 'difference', 10],
      ],
    )
    assert.deepEqual(
      derive('cumulative', [report('2020-03-01', '2020-03-01', 4), report('2020-03-01', '2020-03-02', 9)]),
      [
        ['2020-03-01', 'since_start', 4],
        ['2020-03-02', 'difference', 5],
      ],
    )
  })
  test('an unknown count is skipped: the difference is to the last known one', () => {
    assert.deepEqual(derive('cumulative', [on('2020-03-01', 5), on('2020-03-02', null), on('2020-03-03', 8)]), [
      ['2020-03-01', 'first_report', null],
      ['2020-03-03', 'difference', 3],
    ])
  })
})

describe('period-to-date counts', () => {
  test('start from 0 in each period: Puerto Rico', () => {
    assert.deepEqual(
      derive('period_to_date', [
        report('2016-01-01', '2016-08-04', 9736),
        report('2016-01-01', '2016-08-18', 13_186),
        report('2017-01-01', '2017-01-05', 40),
      ]),
      [
        ['2016-08-04', 'since_start', 9736],
        ['2016-08-18', 'difference', 3450],
        ['2017-01-05', 'since_start', 40],
      ],
    )
  })
  test('a season and a year that overlap are not counted twice', () => {
    assert.deepEqual(
      derive('period_to_date', [
        report('2015-10-01', '2015-12-31', 30),
        report('2015-10-01', '2016-01-31', 45),
        report('2016-01-01', '2016-01-31', 15),
      ]),
      [
        ['2015-12-31', 'since_start', 30],
        ['2016-01-31', 'earlier_start', null],
        ['2016-01-31', 'since_start', 15],
      ],
    )
  })
})

test('point counts give no new count', () => {
  assert.deepEqual(derive('point', [on('2020-03-01', 5), on('2020-03-02', 8)]), [
    ['2020-03-01', 'point', null],
    ['2020-03-02', 'point', null],
  ])
})
