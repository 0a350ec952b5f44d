// More about how the curve is drawn: which count, new or in total, which days, together or by place or source, log scale.
import { useState } from 'preact/hooks'
import type { EventSummary } from '../../../clients/typescript/src/client.ts'
import { COUNTS, GROUPS, INTERVALS, KINDS } from '../address.ts'
import { capitalise } from '../format.ts'
import { Check, Select } from '../parts/choose.tsx'
import { Dialog } from '../parts/dialog.tsx'
import type { Interval } from '../requests.ts'
import { goTo, question, setQuestion, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

export function CurveOptions({ summary, interval }: { summary: EventSummary | null; interval: Interval }) {
  const [isOpen, setOpen] = useState(false)
  const { count, kind, group, scale } = view.value
  const close = () => setOpen(false)
  return (
    <>
      <button
        class="btn icon"
        type="button"
        aria-label="More choices"
        title="More choices"
        onClick={() => setOpen(true)}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {isOpen && (
        <Dialog
          title="How it is drawn"
          onClose={close}
          foot={
            <button class="btn primary" type="button" onClick={close}>
              Done
            </button>
          }
        >
          <div class="options">
            <Select
              label="Count"
              value={count}
              options={COUNTS}
              names={texts.counts}
              onChoose={(chosen) => setView({ count: chosen })}
            />
            <Select
              label="As"
              value={kind}
              options={KINDS}
              names={{ new: 'new in each period', cumulative: 'total so far', point: 'on that day' }}
              onChoose={(chosen) => setView({ kind: chosen })}
            />
            <Select
              label="By"
              value={interval}
              options={INTERVALS}
              names={texts.intervals}
              onChoose={(chosen) => setView({ interval: chosen })}
            />
            <Select
              label="Split"
              value={group}
              options={GROUPS}
              names={texts.groups}
              onChoose={(chosen) => {
                close()
                if (summary !== null) goTo('compare', { view: { ...view.value, group: chosen } })
                else setView({ group: chosen })
              }}
            />
            <DayField filter="date_from" />
            <DayField filter="date_to" />
            <Check
              label="Log scale"
              isOn={scale === 'log'}
              onChange={(isOn) => setView({ scale: isOn ? 'log' : 'linear' })}
            />
          </div>
        </Dialog>
      )}
    </>
  )
}

function DayField({ filter }: { filter: 'date_from' | 'date_to' }) {
  return (
    <label class="pick">
      <span>{capitalise(filter === 'date_from' ? 'from' : 'to')}</span>
      <input
        class="input short"
        type="date"
        value={question.value[filter]?.[0] ?? ''}
        onChange={({ currentTarget: { value } }) => setQuestion({ [filter]: value === '' ? [] : [value] })}
      />
    </label>
  )
}
