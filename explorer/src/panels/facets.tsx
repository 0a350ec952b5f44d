// What the records of the question differ in, with the number of each value. A tick keeps only these.
import type { Filter } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { formatNumber } from '../format.ts'
import { countryName, eventTitle, fieldWord, valueWord } from '../labels.ts'
import { Answered } from '../parts/answered.tsx'
import { useTitles } from '../read-events.ts'
import { recordFilters, toKey, toObject } from '../requests.ts'
import { address, question, setQuestion } from '../state.ts'

const [MOST_VALUES, ASKED] = [8, 9]

const FACETS: readonly Filter[] = [
  ...(['disease', 'event', 'country_code', 'al1_code', 'location_granularity', 'case_status'] as const),
  ...(['count_kind', 'source_name'] as const),
]

function word(name: Filter, value: string): string {
  if (name === 'event') return eventTitle(value)
  return name === 'country_code' ? countryName(value) : valueWord(name, value)
}

export function Facets({ release }: { release: number }) {
  const filters = recordFilters(question.value)
  const answer = useAnswer(`facets ${release} ${toKey(filters)}`, (signal) =>
    api.facets({ ...toObject(filters), release, num: ASKED }, { signal }),
  )
  const isEvent = address.value.page === 'event'
  useTitles(isEvent ? [] : (answer.value?.event.values ?? []).map(({ value }) => String(value)), release)
  return (
    <Answered answer={answer}>
      {(facets) =>
        FACETS.map((name) => {
          const facet = (
            facets as unknown as Record<string, { values: { value: unknown; records: number }[]; distinct: number }>
          )[name]
          const chosen = question.value[name] ?? []
          if (facet === undefined || (isEvent && name === 'event')) return null
          const values = facet.values.map(({ value, records }) => ({ value: String(value), records }))
          if (values.length < 2 && chosen.length === 0) return null
          return (
            <fieldset key={name} class="facet">
              <legend class="h3">{fieldWord(name)}</legend>
              {values.slice(0, MOST_VALUES).map(({ value, records }) => (
                <label key={value}>
                  <input
                    type="checkbox"
                    checked={chosen.includes(value)}
                    onChange={({ currentTarget: { checked } }) =>
                      setQuestion({ [name]: checked ? [...chosen, value] : chosen.filter((one) => one !== value) })
                    }
                  />
                  {word(name, value)} <span class="n">{formatNumber(records)}</span>
                </label>
              ))}
              {facet.distinct > MOST_VALUES && (
                <p class="quiet small">{formatNumber(facet.distinct - MOST_VALUES)} more</p>
              )}
            </fieldset>
          )
        })
      }
    </Answered>
  )
}
