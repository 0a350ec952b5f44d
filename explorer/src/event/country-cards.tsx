// The countries of an event as small curves, each on its own scale: a card shows one, and all can be compared.
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { DEFAULT_VIEW } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { Spark } from '../charts/spark.tsx'
import { formatNumber } from '../format.ts'
import { chooseInterval } from '../forms.ts'
import { countryName } from '../labels.ts'
import { Link } from '../parts/link.tsx'
import { isRefusedBy } from '../refusal.ts'
import { seriesParameters, toKey, toObject } from '../requests.ts'
import { question, view } from '../state.ts'

export function CountryCards({ summary, release }: { summary: EventSummary; release: number }) {
  const interval = chooseInterval(summary.first_day, summary.last_day)
  const parameters = seriesParameters(question.value, { interval, group: 'country_code', side: false }, release)
  const { value, error } = useAnswer(`countries ${toKey(parameters)}`, (signal) =>
    api.series(toObject(parameters), { signal }),
  )
  const groups = (value?.groups ?? [])
    .flatMap(({ group, points }) => {
      const bars = points.map((point) => ({ first: point.first_day, last: point.last_day, value: point.new.cases }))
      const known = bars.filter((bar) => bar.value !== null)
      const total = points.findLast((point) => point.cumulative.cases !== null)?.cumulative.cases
      return known.length < 3
        ? []
        : [
            {
              code: String(group['country_code']),
              bars,
              total: total ?? known.reduce((a, bar) => a + (bar.value ?? 0), 0),
            },
          ]
    })
    .toSorted((a, b) => b.total - a.total)
  if (isRefusedBy(error) || (value !== undefined && groups.length < 2)) return null
  const first = { ...DEFAULT_VIEW, release: view.value.release }
  return (
    <section class="section" aria-labelledby="countries" aria-busy={value === undefined}>
      <div class="section-head">
        <h2 id="countries">The countries of this event</h2>
        <Link
          page="compare"
          to={{
            question: { ...question.value, country_code: groups.slice(0, 4).map(({ code }) => code) },
            view: { ...first, group: 'country_code' },
          }}
        >
          Compare countries
        </Link>
        <p>New cases, each on its own scale. Choose one to see its curve.</p>
      </div>
      <div class="cards six">
        {groups.map(({ code, bars, total }) => (
          <article key={code} class="card">
            <h3>
              <Link page="event" to={{ question: { ...question.value, country_code: [code] }, view: first }}>
                {countryName(code)}
              </Link>
            </h3>
            <p class="meta">{formatNumber(total)} cases</p>
            <Spark bars={bars} height={44} />
          </article>
        ))}
      </div>
    </section>
  )
}
