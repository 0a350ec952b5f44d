// What is on the screen as a program in four languages, and its citation. Each names the release.
import { LANGUAGES, TAKEN } from '../address.ts'
import { api, useAnswer } from '../ask.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Select } from '../parts/select.tsx'
import { coverageParameters, recordFilters, seriesParameters, sumsParameters, toKey, toObject } from '../requests.ts'
import { writeSnippets } from '../snippets.ts'
import { question, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

/** The citation of the question; empty until it is known. */
export function useCitation(release: number) {
  const filters = [...recordFilters(question.value), ['release', String(release)] as const]
  return useAnswer(question.value.event === undefined ? '' : toKey(filters), (signal) =>
    api.cite(toObject(filters) as never, { signal }),
  )
}

function takenParameters(release: number) {
  switch (view.value.taken) {
    case 'series':
      return seriesParameters(question.value, view.value, release)
    case 'sums':
      return sumsParameters(question.value, view.value, release)
    case 'coverage':
      return coverageParameters(question.value, view.value, 'month', release)
  }
}

export function TakePanel({ release, citation }: { release: number; citation: ReturnType<typeof useCitation> }) {
  const { code, taken } = view.value
  const snippet = writeSnippets(location.origin, taken, takenParameters(release))[code]
  const { take } = texts
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    const next = LANGUAGES[(LANGUAGES.indexOf(code) + step + LANGUAGES.length) % LANGUAGES.length] ?? code
    setView({ code: next }, { replaces: true })
    document.getElementById(`code-${next}`)?.focus()
  }
  return (
    <section class="take" aria-labelledby="take">
      <h2 id="take">{take.title}</h2>
      <div class="choices">
        <Select
          label={take.what}
          value={taken}
          options={TAKEN}
          names={take.parts}
          onChoose={(part) => setView({ taken: part }, { replaces: true })}
        />
        <div role="tablist" aria-label={take.language} onKeyDown={onKeyDown}>
          {LANGUAGES.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`code-${name}`}
              aria-selected={code === name}
              aria-controls="code"
              tabIndex={code === name ? 0 : -1}
              onClick={() => setView({ code: name }, { replaces: true })}
            >
              {take.languages[name]}
            </button>
          ))}
        </div>
        <CopyButton text={snippet} label={texts.copy} />
      </div>
      <pre id="code" role="tabpanel" tabIndex={0} aria-labelledby={`code-${code}`}>
        {snippet}
      </pre>
      {citation.error !== undefined && <Failure error={citation.error} />}
      {citation.value !== undefined && !citation.isWaiting && (
        <>
          <p class="citation">{citation.value}</p>
          <CopyButton text={citation.value} label={take.cite} />
        </>
      )}
    </section>
  )
}
