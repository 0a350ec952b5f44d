// Records of any question.
import { FILTERS } from '../address.ts'
import { countryName, eventTitle, valueWord } from '../labels.ts'
import { RecordsTable } from '../panels/records-table.tsx'
import { useTitles } from '../read-events.ts'
import { question, setQuestion } from '../state.ts'

const words = (name: string, value: string): string =>
  name === 'event' ? eventTitle(value) : name === 'country_code' ? countryName(value) : valueWord(name, value)

export function RecordsPage({ release }: { release: number }) {
  useTitles(question.value.event ?? [], release)
  const chips = FILTERS.flatMap((name) => (question.value[name] ?? []).map((value) => ({ name, value })))
  return (
    <div class="wrap">
      <div class="head">
        <div class="head-row">
          <div>
            <h1>Records</h1>
            <p>Every report, as the sources gave it. Release {release}</p>
          </div>
          <ul class="chips" aria-label="Filters">
            {chips.map(({ name, value }) => (
              <li key={`${name} ${value}`}>
                <button
                  class="chip on"
                  type="button"
                  aria-label={`Remove the filter ${words(name, value)}`}
                  onClick={() => setQuestion({ [name]: question.value[name]?.filter((one) => one !== value) ?? [] })}
                >
                  {words(name, value)}{' '}
                  <span class="x" aria-hidden="true">
                    ×
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <RecordsTable release={release} isEvent={false} />
    </div>
  )
}
