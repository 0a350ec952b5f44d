// A map of one level of place. Counts are circles whose area is proportional to them: a filled area would make large countries
// look worse. A place without a report looks different from zero.
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type MapKind, type Shape, SIZES, useOutlines } from './outlines.ts'
import { Plot } from './plot.tsx'
import { CHARACTER } from './scales.ts'

interface Spot {
  readonly code: string
  /** The area of the circle; without one, all circles are equal. */
  readonly size?: number
  readonly lines: readonly string[]
  readonly isHot?: boolean
}

interface MapProps {
  readonly kind: MapKind
  readonly spots: readonly Spot[]
  readonly label: string
  /** The class of the outline of a place. */
  readonly shade: (code: string) => string
  readonly tip: (code: string, name: string) => ComponentChildren
  readonly onPick?: (code: string) => void
  /** The most labels. */
  readonly labels?: number
  readonly largest?: number
}

interface Placed extends Spot {
  readonly x: number
  readonly y: number
  readonly r: number
}

export function PlaceMap({ kind, spots, label, shade, tip, onPick, labels = 6, largest }: MapProps) {
  const shapes = useOutlines(kind)
  const [at, setAt] = useState<{ code: string; name: string; x: number; y: number } | null>(null)
  const [wide, high] = SIZES[kind]
  const most = largest ?? spots.reduce((a, { size = 1 }) => Math.max(a, size), 1)
  const classes = shapes?.map(({ code }) => shade(code)).join()
  const outlines = useMemo(
    () =>
      shapes?.map((shape) => (
        <path
          key={`${shape.code}${shape.name}`}
          d={shape.path}
          class={`land ${shade(shape.code)}`}
          data-code={shape.code}
        />
      )),
    [shapes, classes],
  )
  const byCode = new Map(shapes?.map((shape) => [shape.code, shape]))
  const find = (event: Event): Shape | undefined => byCode.get((event.target as SVGElement).dataset['code'] ?? ' ')
  return (
    <Plot tip={at === null ? null : { x: at.x, y: at.y, content: tip(at.code, at.name) }}>
      {(width) => {
        const scale = width / wide
        const height = Math.ceil(high * scale)
        const placed = spots
          .flatMap((spot): Placed[] => {
            const centre = byCode.get(spot.code)?.centre
            const share = (spot.size ?? 0) / most
            const r = spot.size === undefined ? 5.5 : Math.max(2.25, Math.sqrt(share) * Math.max(18, width * 0.075))
            return centre === undefined ? [] : [{ ...spot, x: centre[0] * scale, y: centre[1] * scale, r }]
          })
          .toSorted((a, b) => b.r - a.r)
        return (
          <svg
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={label}
            onPointerOver={(event) => {
              const shape = find(event)
              setAt(
                shape === undefined
                  ? null
                  : { code: shape.code, name: shape.name, x: shape.centre[0] * scale, y: shape.centre[1] * scale },
              )
            }}
            onPointerLeave={() => setAt(null)}
            onClick={(event) => {
              const shape = find(event)
              if (shape !== undefined && onPick !== undefined) onPick(shape.code)
            }}
          >
            <g transform={`scale(${scale})`}>{outlines}</g>
            {placed.map(({ code, x, y, r, isHot }) => (
              <circle
                key={code}
                class={`dot count${isHot === true ? ' hot' : ''}`}
                cx={x}
                cy={y}
                r={r}
                data-code={code}
              />
            ))}
            {placeLabels(placed, { width, height, most: width < 560 ? Math.min(5, labels) : labels })}
          </svg>
        )
      }}
    </Plot>
  )
}

type Box = readonly [left: number, top: number, right: number, bottom: number]

/** The names of the largest: where they hide nothing, otherwise none. */
function placeLabels(
  placed: readonly Placed[],
  { width, height, most }: { width: number; height: number; most: number },
): ComponentChildren {
  const circles = placed.map(({ x, y, r }): Box => [x - r, y - r, x + r, y + r])
  const texts: Box[] = []
  const isFree = ([left, top, right, bottom]: Box, own: number) =>
    left >= -2 &&
    right <= width + 2 &&
    top >= 0 &&
    bottom <= height &&
    [...circles.filter((_, i) => i !== own), ...texts].every(
      ([a, b, c, d]) => left > c || right < a || top > d || bottom < b,
    )
  return placed.slice(0, most).map(({ code, lines, x, y, r }, own) => {
    const wide = Math.max(...lines.map((line) => line.length)) * CHARACTER + 4
    const high = lines.length * 15
    const options = [
      [x + r + 4, y - high / 2, 'start'],
      [x - r - 4 - wide, y - high / 2, 'end'],
      [x - wide / 2, y - r - high - 2, 'middle'],
      [x - wide / 2, y + r + 3, 'middle'],
    ] as const
    const found = options.find(([left, top]) => isFree([left, top, left + wide, top + high], own))
    if (found === undefined) return null
    const [left, top, anchor] = found
    texts.push([left, top, left + wide, top + high])
    const at = anchor === 'start' ? left : anchor === 'end' ? left + wide : left + wide / 2
    return (
      <g key={code} class="spot-label">
        {lines.map((line, i) => (
          <text key={line} class={i === 0 ? 'lab' : 'lab lab2'} x={at} y={top + 12 + i * 15} text-anchor={anchor}>
            {line}
          </text>
        ))}
      </g>
    )
  })
}
