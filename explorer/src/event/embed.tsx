// The picture on another page: a frame and an image, each by a link that opens this one question of this release.
import { useState } from 'preact/hooks'
import { signInIfEnded } from '../ask.ts'
import { escapeText } from '../format.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Parameters } from '../requests.ts'
import { makeLink } from '../take/link.ts'

interface EmbedProps {
  readonly title: string
  /** The question, with its release. */
  readonly parameters: Parameters
}

interface Links {
  readonly frame: string
  readonly picture: string
  readonly until: string
}

export function EmbedPanel({ title, parameters }: EmbedProps) {
  const [links, setLinks] = useState<Links | null>(null)
  const [state, setState] = useState('')
  const make = async () => {
    setState('Asking …')
    try {
      const [frame, picture] = await Promise.all([makeLink('embed', parameters), makeLink('picture', parameters)])
      setLinks({ frame: frame.url, picture: picture.url, until: frame.until })
      setState('')
    } catch (error) {
      signInIfEnded(error)
      setState(`No links were made: ${(error as Error).message}`)
    }
  }
  return (
    <section class="section" aria-labelledby="embed">
      <div class="section-head">
        <h2 id="embed">On another page</h2>
        <p>The picture of this release in a frame, or as an image for a report. Whoever has a link can read it.</p>
      </div>
      {links === null ? (
        <span class="group">
          <button class="btn" type="button" onClick={() => void make()}>
            <Icon name="picture" /> Embed
          </button>
          <span class="small" role="status">
            {state}
          </span>
        </span>
      ) : (
        <>
          <Code
            name="Frame"
            text={`<iframe src="${escapeText(links.frame)}" title="${escapeText(title)}" width="100%" height="640" style="border:0" loading="lazy" referrerpolicy="no-referrer"></iframe>`}
          />
          <Code name="Image (SVG)" text={links.picture} />
          <p class="under">Both work until {links.until}. The operator names the pages that may show the frame.</p>
        </>
      )}
    </section>
  )
}

const Code = ({ name, text }: { name: string; text: string }) => (
  <div class="codebox embed">
    <div class="code-head">
      <b>{name}</b>
      <CopyButton text={text} label="Copy" class="s" />
    </div>
    <pre tabIndex={0} aria-label={name}>
      {text}
    </pre>
  </div>
)
