// What is on the screen as a program in four languages, and its citation. Each names the release.
import { api, useAnswer } from '../ask.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Failure } from '../parts/failure.tsx'
import { recordFilters, seriesParameters, toKey, toObject } from '../requests.ts'
import { writeSnippets } from '../snippets.ts'
import { question, setView, view } from '../state.ts'
import { texts } from '../texts.ts'

const LANGUAGES = ['curl', 'python', 'r', 'typescript'] as const

/** The citation of the question; empty until it is known. */
export function useCitation(release: number) {
  const filters = [...recordFilters(question.value), ['release', String(release)] as const]
  return useAnswer(question.value.event === undefined ? '' : toKey(filters), (signal) =>
    api.cite(toObject(filters) as never, { signal }),
  )
}

export function TakePanel({ release, citation }: { release: number; citation: ReturnType<typeof useCitation> }) {
  const { code } = view.value
  const snippets = writeSnippets(location.origin, 'series', seriesParameters(question.value, view.value, release))
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
      <pre id="code" role="tabpanel" tabIndex={0} aria-labelledby={`code-${code}`}>
        {snippets[code]}
      </pre>
      <CopyButton text={snippets[code] ?? ''} label={texts.copy} />
      {citation.error !== undefined && <Failure error={citation.error} />}
      {citation.value !== undefined && (
        <>
          <p class="citation">{citation.value}</p>
          <CopyButton text={citation.value} label={take.cite} />
        </>
      )}
    </section>
  )
}
