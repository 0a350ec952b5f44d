// Other events of the same disease, the nearest in time first.
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { useAnswer } from '../ask.ts'
import { formatDays, formatNumber } from '../format.ts'
import { statusWord } from '../labels.ts'
import { EventLink } from '../parts/link.tsx'
import { readEvents } from '../read-events.ts'

const [ASKED, CARDS] = [200, 4]

export function RelatedEvents({ summary, release }: { summary: EventSummary; release: number }) {
  const [disease] = summary.diseases ?? []
  const { value } = useAnswer(
    disease === undefined ? '' : `related ${release} ${disease}`,
    async (signal) => (await readEvents({ disease: disease ?? '', release, num: ASKED }, signal)).events,
  )
  const day = Date.parse(summary.last_day ?? '2000-01-01')
  const others = (value ?? [])
    .filter(({ event, last_day: last }) => event !== summary.event && last !== null)
    .toSorted((a, b) => Math.abs(Date.parse(a.last_day ?? '') - day) - Math.abs(Date.parse(b.last_day ?? '') - day))
    .slice(0, CARDS)
  if (others.length === 0) return null
  return (
    <section class="section" aria-labelledby="related">
      <div class="section-head">
        <h2 id="related">Other events: {disease}</h2>
      </div>
      <div class="cards">
        {others.map(({ event, title, headline, first_day: first, last_day: last }) => (
          <article key={event} class="card">
            <h3>
              <EventLink event={event}>{title}</EventLink>
            </h3>
            <p class="count">
              {headline?.cases == null ? '–' : formatNumber(headline.cases)}{' '}
              <small>{headline === null ? 'several counts' : statusWord(headline['case_status'])}</small>
            </p>
            <p class="meta foot">
              {first !== null && last !== null && `${formatDays(first, last)}. `}
              {headline?.deaths == null ? 'Deaths not reported.' : `${formatNumber(headline.deaths)} deaths.`}
            </p>
          </article>
        ))}
      </div>
    </section>
  )
}
