// Properties of the new counts of any series. docs/methods.md, sections 2 to 4.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CountKind, deriveSteps, type Report, type Step } from '../../../src/methods/increments.ts'
import { fc } from '../../seed.ts'

const sum = (steps: readonly Step[]) => steps.reduce((total, { increment }) => total + (increment ?? 0), 0)

describe('any series', () => {
  const day = fc.integer({ min: 18_000, max: 18_060 })
  const anyReport = fc.record({
    first: fc.option(day),
    span: fc.integer({ min: 0, max: 20 }),
    reported: fc.option(fc.constantFrom('2020-01-01', '2020-02-01')),
    sourceReport: fc.option(fc.constantFrom('a', 'b')),
    cases: fc.option(fc.integer({ min: 0, max: 50 })),
  })
  const anyReports = fc.array(anyReport, { maxLength: 20 }).map((rows) =>
    rows.map(
      ({ first, span, cases, ...more }, i): Report => ({
        ...{
          id: i + 1,
          first,
          last: first === null ? 18_000 + span : first + span,
          definition: null,
          exact: true,
          counts: [cases],
        },
        ...more,
      }),
    ),
  )
  const kinds: CountKind[] = ['new', 'cumulative', 'period_to_date', 'point']

  test('does not depend on the order of reports or on their ids', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), anyReports, (kind, reports) => {
        const renumbered = reports.toReversed().map((one, i) => ({ ...one, id: i + 1 }))
        const withoutIds = (steps: readonly Step[]) => steps.map(({ id: _id, ...step }) => JSON.stringify(step)).sort()
        assert.deepEqual(withoutIds(deriveSteps(kind, renumbered)), withoutIds(deriveSteps(kind, reports)))
      }),
    )
  })
  test('has a step for every dated count', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), anyReports, (kind, reports) => {
        const dated = reports.filter(
          ({ first, counts }) => counts[0] !== null && (kind !== 'period_to_date' || first !== null),
        )
        assert.deepEqual(
          deriveSteps(kind, reports)
            .map(({ id }) => id)
            .sort((a, b) => a - b),
          dated.map(({ id }) => id),
        )
      }),
    )
  })
  test('counts no day of new counts twice', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        const taken = deriveSteps('new', reports).filter(({ rule, value }) => rule === 'counted' && value >= 0)
        const days = taken.flatMap(({ firstDay, day: last }) =>
          Array.from({ length: last - firstDay + 1 }, (_, i) => firstDay + i),
        )
        assert.equal(new Set(days).size, days.length)
      }),
    )
  })
  test('has new counts that add up to the cumulative count, if counting did not restart', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        const steps = deriveSteps(
          'cumulative',
          reports.map((one) => ({ ...one, first: null })),
        ).filter(({ rule }) => rule !== 'superseded')
        const ordered = steps.toSorted((a, b) => a.day - b.day)
        const base = ordered[0]?.value ?? 0
        for (const [i, { value, rule }] of ordered.entries())
          if (rule !== 'dip') assert.equal(sum(ordered.slice(0, i + 1)), value - base)
      }),
    )
  })
})
