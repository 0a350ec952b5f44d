// The citation of what is on the screen, as text and for programs that manage references.
import { useState } from 'preact/hooks'
import type { Release } from '../../../clients/typescript/src/client.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Icon } from '../parts/icon.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { type CitationFormat, useCitation } from '../use-event.ts'

const FORMATS = ['text', 'bibtex', 'csl-json'] as const satisfies readonly CitationFormat[]
const NAMES = { text: 'Text', bibtex: 'BibTeX', 'csl-json': 'CSL-JSON' } as const

/** CSL-JSON is easier to read on several lines. */
const indent = (text: string, format: CitationFormat): string =>
  format === 'csl-json' ? JSON.stringify(JSON.parse(text), null, 2) : text.trimEnd()

export function CitePanel({ release }: { release: Release }) {
  const [format, setFormat] = useState<CitationFormat>('text')
  const { value, error, isWaiting } = useCitation(release.number, true, format)
  // While another format is asked for, the answer is still the one before.
  const text = value === undefined || isWaiting ? null : indent(value, format)
  return (
    <section class="news" aria-labelledby="cite">
      <h2 id="cite">Cite this view</h2>
      <div class="codebox cites" aria-busy={isWaiting}>
        <div class="code-head">
          <Tabs label="Format" panel="citation" value={format} options={FORMATS} names={NAMES} onChoose={setFormat} />
        </div>
        <pre id="citation" role="tabpanel" tabIndex={0} class="citation" aria-labelledby={`citation-${format}`}>
          {text ?? (error === undefined ? 'Asking …' : '')}
        </pre>
      </div>
      {error !== undefined && <Failure error={error} />}
      {text !== null && (
        <CopyButton text={text} label={`Copy ${format === 'text' ? 'citation' : NAMES[format]}`} class="wide" />
      )}
      <h3 class="see">What you may do</h3>
      <ul class="ticks">
        <li>
          <Icon name="check" />
          <span>
            Use, change and publish it, if you name the sources. Licences: {release.licence.replaceAll(' AND ', ', ')}.
          </span>
        </li>
        <li>
          <Icon name="check" />
          <span>Link to release {release.number}: the address keeps its numbers.</span>
        </li>
      </ul>
    </section>
  )
}
