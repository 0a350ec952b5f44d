// The one framed thing of a page: its title and controls, the picture, where the numbers come from, and the table behind it.
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { saveSvg } from '../take/save-picture.ts'
import { Icon } from './icon.tsx'

interface StageProps {
  readonly title: string
  readonly sub?: ComponentChildren
  readonly above?: ComponentChildren
  readonly controls?: ComponentChildren
  readonly children: ComponentChildren
  readonly below?: ComponentChildren
  readonly source: string
  /** The same numbers as a table. */
  readonly table?: () => ComponentChildren
  readonly svg?: SVGSVGElement | null
  readonly pictureTitle?: string
  /** What a saved picture says about itself; null until it is known. */
  readonly citation?: string | null
  /** The citation is needed. */
  readonly onSave?: () => void
}

export function Stage(props: StageProps) {
  const { title, sub, above, controls, children, below, source, table, svg = null, citation = null } = props
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const [isSaving, setSaving] = useState(false)
  const openSave = () => {
    setSaving(true)
    props.onSave?.()
  }
  const save = (format: 'SVG' | 'PNG') => {
    setSaving(false)
    if (svg !== null && citation !== null)
      void saveSvg(svg, { title: props.pictureTitle ?? title, source: citation, format })
  }
  return (
    <section class="stage" aria-labelledby={id}>
      {above}
      <div class="stage-bar">
        <div>
          <h2 id={id}>{title}</h2>
          {sub !== undefined && <p>{sub}</p>}
        </div>
        <div class="group">{controls}</div>
      </div>
      {children}
      {below}
      <div class="stage-foot">
        <span>{source}</span>
        <span class="group">
          {table !== undefined && (
            <button class="btn plain" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              <Icon name="table" /> Table
            </button>
          )}
          {svg !== null &&
            (isSaving ? (
              (['SVG', 'PNG'] as const).map((format) => (
                <button
                  key={format}
                  class="btn plain"
                  type="button"
                  // A picture never has the numbers of one question and the citation of another.
                  disabled={citation === null}
                  onClick={() => save(format)}
                >
                  Save as {format}
                </button>
              ))
            ) : (
              <button class="btn plain" type="button" onClick={openSave}>
                <Icon name="picture" /> Save picture
              </button>
            ))}
        </span>
      </div>
      {isOpen && table !== undefined && <div class="behind scroll">{table()}</div>}
    </section>
  )
}
