// The frame of a picture: it is drawn at the width that it has, and a card beside the pointer says what is there.
import type { ComponentChildren, Ref } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useWidth } from './use-width.ts'

interface Tip {
  readonly x: number
  readonly y: number
  readonly content: ComponentChildren
}

interface PlotProps {
  /** What the card says, and where; null without one. */
  readonly tip?: Tip | null
  readonly children: (width: number) => ComponentChildren
}

export function Plot({ tip = null, children }: PlotProps) {
  const [width, frame] = useWidth<HTMLDivElement>(0)
  return (
    <div class="plot" ref={frame}>
      {width > 0 && children(width)}
      {tip !== null && <Card {...tip} width={width} />}
    </div>
  )
}

const KEYS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 4, PageUp: -4 }

interface DrawingProps {
  readonly label: string
  readonly width: number
  readonly height: number
  /** How many steps can be read, and which one is: -1 for none. */
  readonly steps: number
  readonly at: number
  readonly onShow: (step: number) => void
  readonly onDraw?: Ref<SVGSVGElement> | undefined
  readonly children: ComponentChildren
}

/** Arrow keys read it step by step. */
export function Drawing({ label, width, height, steps, at, onShow, onDraw, children }: DrawingProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onShow(-1)
    const step = KEYS[event.key]
    const from = at < 0 && step !== undefined && step < 0 ? steps : at
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? steps - 1 : step === undefined ? null : from + step
    if (next === null) return
    event.preventDefault()
    onShow(Math.min(steps - 1, Math.max(0, next)))
  }
  return (
    <svg
      ref={onDraw ?? null}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="application"
      tabIndex={0}
      aria-label={`${label}. Arrow keys read it one period at a time.`}
      onKeyDown={onKeyDown}
      onBlur={() => onShow(-1)}
    >
      {children}
    </svg>
  )
}

/** It stays inside the picture. */
function Card({ x, y, content, width }: Tip & { width: number }) {
  const card = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const { current } = card
    if (current === null) return
    const { offsetWidth: own, offsetHeight: height } = current
    const left = x + 16 + own <= width ? x + 16 : x - own - 16
    current.style.left = `${left >= 0 ? left : Math.max(0, Math.min(width - own, x - own / 2))}px`
    current.style.top = `${Math.max(-8, y - height / 2)}px`
  })
  return (
    <div class="tip" ref={card} aria-hidden="true">
      {content}
    </div>
  )
}

interface TipTextProps {
  readonly title: string
  readonly aside?: string
  /** The number, and what it counts. */
  readonly big?: readonly [value: string, unit: string]
  readonly rows?: readonly (readonly [name: string, value: string])[]
  readonly why?: string
}

export function TipText({ title, aside, big, rows = [], why = '' }: TipTextProps) {
  return (
    <>
      <header>
        {title} {aside !== undefined && <span>{aside}</span>}
      </header>
      <div class="body">
        {big !== undefined && (
          <div class="big">
            {big[0]} <small>{big[1]}</small>
          </div>
        )}
        {rows.length > 0 && (
          <dl>{rows.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}</dl>
        )}
        {why !== '' && <p class="why">{why}</p>}
      </div>
    </>
  )
}

/** Stripes: a period that is not over. Hatching: nothing is known. */
export function Patterns({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={`inc${id}`} width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="7" height="7" class="stripe-back" />
        <line x1="1.5" y1="0" x2="1.5" y2="7" class="stripe" />
      </pattern>
      <pattern id={`un${id}`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" class="hatch-b" />
        <line x1="0" y1="0" x2="0" y2="6" class="hatch-l" />
      </pattern>
    </defs>
  )
}
