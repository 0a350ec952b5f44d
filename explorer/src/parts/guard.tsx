// Says whether the counts may be added up. If not, each comparable choice is a button: one click asks that question.
import type { NotComparable, Series } from '../../../clients/typescript/src/client.ts'
import { GROUPS, parseQuestion } from '../address.ts'
import { setQuestion, setView } from '../state.ts'
import { formatNumber, texts } from '../texts.ts'

const MOST_CHOICES = 8

export function Comparable({ series }: { series: Series }) {
  return (
    <div class="guard good">
      <p>
        <span aria-hidden="true">●</span> {texts.guard.comparable(series.records, series.series)}{' '}
        {series.undated > 0 && texts.guard.undated(series.undated, describeUndated(series))}
      </p>
      {series.chosen.length > 0 && <Chosen series={series} />}
    </div>
  )
}

/** How it was counted, where there are several ways. Another way is one click away. */
function Chosen({ series: { chosen, left_out: leftOut, left_out_total: total } }: { series: Series }) {
  const { guard } = texts
  const [first] = chosen
  const others = leftOut.slice(0, MOST_CHOICES)
  return (
    <details>
      <summary>
        {chosen.length === 1 && first !== undefined ? guard.chosen(first.words) : guard.chosenForEach(chosen.length)}{' '}
        {total > 0 && guard.leftOut(total)}
      </summary>
      <ul class="choices">
        {others.map(({ query, words, records, reason }) => (
          <li key={query}>
            {query === null ? (
              guard.choice(words, records)
            ) : (
              <button type="button" title={reason} onClick={() => setQuestion(parseQuestion(query))}>
                {guard.choice(words, records)}
              </button>
            )}
          </li>
        ))}
      </ul>
      {total > others.length && <p>{guard.more(total - others.length)}</p>}
    </details>
  )
}

/** The cases without a day; null if there are none that may be added up. */
const describeUndated = ({ undated_counts: own, groups }: Series): string | null => {
  const cases = [own, ...(groups ?? []).map((group) => group.undated_counts)].flatMap((counts) => counts?.cases ?? [])
  return cases.length === 0 ? null : `${formatNumber(cases.reduce((a, b) => a + b))} ${texts.counts.cases}`
}

export function Refusal({ error }: { error: NotComparable }) {
  const { guard } = texts
  const groups = GROUPS.filter((name) => error.mixed.includes(name))
  // A set that no filters choose cannot be a question.
  const choices = error.choices
    .flatMap(({ query, records }) => (query === null ? [] : [{ query, records }]))
    .slice(0, MOST_CHOICES)
  return (
    <div class="guard bad" role="alert">
      <p>
        <span aria-hidden="true">▲</span> {guard.mixed(error.mixed.join(', '))}
      </p>
      <p>{guard.keep}</p>
      <ul class="choices">
        {choices.map(({ query, records }) => (
          <li key={query}>
            <button type="button" onClick={() => setQuestion(parseQuestion(query))}>
              {guard.choice(describeQuery(query), records)}
            </button>
          </li>
        ))}
        {groups.map((name) => (
          <li key={name}>
            <button type="button" onClick={() => setView({ group: name })}>
              {guard.group(texts.groups[name])}
            </button>
          </li>
        ))}
      </ul>
      {error.choices.length > choices.length && <p>{guard.more(error.choices.length - choices.length)}</p>}
    </div>
  )
}

const describeQuery = (query: string): string =>
  [...new URLSearchParams(query)].map(([name, value]) => texts.guard.value(name, value)).join(', ')
