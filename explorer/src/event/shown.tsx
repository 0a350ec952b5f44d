// What is shown and what is left out, in a line; and every other way of counting, one click away.
import { useState } from 'preact/hooks'
import type { Series } from '../../../clients/typescript/src/client.ts'
import { parseQuestion, type Question } from '../address.ts'
import { countOf, formatDays, formatNumber } from '../format.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { question, setQuestion, setView } from '../state.ts'
import { leftOutWords, shownWords } from './picture-words.ts'

type Set = Series['chosen'][number] | Series['left_out'][number]

const ASKED = ['source_name', 'case_status', 'count_kind', 'location_granularity', 'date_type', 'composite'] as const

interface ShownLineProps {
  readonly series: Series
  readonly form: 'curve' | 'total'
  /** If there is only one. */
  readonly source?: string | undefined
}

export function ShownLine({ series, form, source }: ShownLineProps) {
  const [isOpen, setOpen] = useState(false)
  const { chosen, left_out: leftOut, left_out_total: others, records, undated } = series
  const [first] = chosen
  const isOwnChoice = ASKED.some((name) => question.value[name] !== undefined)
  return (
    <div class="shown">
      <Icon name="check" />
      <p>
        <b>Shown:</b> {shownWords(series, source)}
        {(first?.records ?? records) > 1 && form === 'curve' ? ', added up. ' : '. '}
        {others > 0 && (
          <>
            <b>Left out:</b> {leftOutWords(series)}.{' '}
          </>
        )}
        {undated > 0 && (
          <>
            <b>Not drawn:</b> {countOf(undated, 'report')} without a day.{' '}
          </>
        )}
        {isOwnChoice && others === 0 && 'Your own choice of what is counted. '}
      </p>
      <span class="acts">
        {isOwnChoice && (
          <button class="link" type="button" onClick={() => setQuestion(noChoice(question.value))}>
            Back to the recommended
          </button>
        )}
        {(others > 0 || chosen.length > 0) && (
          <button class="link" type="button" onClick={() => setOpen(true)}>
            Why, and change
          </button>
        )}
      </span>
      {isOpen && <Choices chosen={chosen} leftOut={leftOut} total={others} onClose={() => setOpen(false)} />}
    </div>
  )
}

const SET_FIELDS = [
  ...['source_name', 'case_status', 'count_kind', 'location_granularity', 'date_type', 'composite', 'location_type'],
  ...['pathogen', 'disease', 'host', 'age_group', 'sex', 'population', 'missing'],
] as const

/** The question without what says how it was counted. */
const noChoice = (asked: Question): Question =>
  Object.fromEntries(SET_FIELDS.filter((name) => name in asked).map((name) => [name, []]))

interface ChoicesProps {
  readonly chosen: Series['chosen']
  readonly leftOut: Series['left_out']
  readonly total: number
  readonly onClose: () => void
}

function Choices({ chosen, leftOut, total, onClose }: ChoicesProps) {
  const sets: readonly Set[] = [...(chosen.length === 1 ? chosen : []), ...leftOut]
  const [at, setAt] = useState<number>(chosen.length === 1 ? 0 : -1)
  const show = () => {
    onClose()
    if (at === sets.length) setView({ side: true })
    else if (chosen.length === 1 && at === 0) return
    else {
      const query = sets[at]?.query
      if (query != null) setQuestion(parseQuestion(query))
    }
  }
  return (
    <Dialog
      title="What this event counts"
      onClose={onClose}
      foot={
        <>
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn primary" type="button" disabled={at < 0} onClick={show}>
            Show
          </button>
        </>
      }
    >
      <fieldset class="choices">
        <legend>
          These counts differ in who counted what, so they are never added up. The first was chosen by a fixed rule;
          each other one says why it was left out.
        </legend>
        {sets.map((set, i) => (
          <label class="choice" key={`${set.query} ${set.words}`}>
            <input type="radio" name="set" checked={at === i} disabled={set.query === null} onChange={() => setAt(i)} />
            <span>
              <b>{set.words}</b>
              <small>
                {set.first_day === null || set.last_day === null
                  ? 'no day given'
                  : formatDays(set.first_day, set.last_day)}{' '}
                · {countOf(set.records, 'report')}
                {'reason' in set && set.reason !== '' && <> · {String(set.reason)}</>}
              </small>
            </span>
            <span class="num">{numberOf(set)}</span>
          </label>
        ))}
        <label class="choice">
          <input type="radio" name="set" checked={at === sets.length} onChange={() => setAt(sets.length)} />
          <span>
            <b>All, side by side</b>
            <small>Each count by itself, never added up</small>
          </span>
        </label>
      </fieldset>
      {total > leftOut.length && <p class="quiet small">{countOf(total - leftOut.length, 'further count')}</p>}
    </Dialog>
  )
}

const numberOf = ({ counts }: Set): string => {
  if (counts['cases'] != null) return formatNumber(counts['cases'])
  return counts['deaths'] == null ? '–' : `${formatNumber(counts['deaths'])} deaths`
}
