// A map of one level of place. Counts are circles whose area is proportional to them: a filled area would make large countries
// look worse. A place without a report looks different from zero.
import { geoEqualEarth, geoPath } from 'd3-geo'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { feature } from 'topojson-client'
import { formatNumber, texts } from '../texts.ts'

declare const WORLD_OUTLINES: string
declare const STATE_OUTLINES: string

interface PlaceValue {
  readonly code: string
  /** Null if it is unknown. */
  readonly value: number | null
}

interface MapProps {
  readonly level: 'country_code' | 'al1_code'
  readonly values: readonly PlaceValue[]
  /** The codes of the places of the question. */
  readonly chosen: ReadonlySet<string>
  readonly label: string
  readonly onPick: (code: string) => void
}

interface Shape {
  readonly code: string
  readonly name: string
  readonly path: string
  readonly centre: readonly [number, number]
}

const [WIDTH, HEIGHT] = [975, 500]
const MAX_RADIUS = 42
const loaded = new Map<string, Promise<readonly Shape[]>>()

/** Null until the outlines have arrived. */
function useOutlines(level: MapProps['level']): readonly Shape[] | null {
  const [shapes, setShapes] = useState<{ level: string; shapes: readonly Shape[] } | null>(null)
  useEffect(() => {
    let isCurrent = true
    const url = level === 'country_code' ? WORLD_OUTLINES : STATE_OUTLINES
    const loading = loaded.get(url) ?? fetch(url).then(async (response) => toShapes(level, await response.json()))
    loaded.set(url, loading)
    loading.then(
      (found) => isCurrent && setShapes({ level, shapes: found }),
      () => loaded.delete(url),
    )
    return () => {
      isCurrent = false
    }
  }, [level])
  return shapes?.level === level ? shapes.shapes : null
}

function toShapes(level: MapProps['level'], topology: Parameters<typeof feature>[0]): Shape[] {
  const places = feature(topology, topology.objects['places'] as never) as unknown as GeoJSON.FeatureCollection
  // The outlines of the states are projected already.
  const path = geoPath(level === 'country_code' ? geoEqualEarth().fitSize([WIDTH, HEIGHT], { type: 'Sphere' }) : null)
  return places.features.flatMap((place) => {
    const { code, name } = place.properties as { code: string | null; name: string }
    return [{ code: code ?? '', name, path: path(place) ?? '', centre: path.centroid(largestPart(place)) }]
  })
}

/** The centre of France is not between Europe and South America. */
function largestPart(place: GeoJSON.Feature): GeoJSON.Feature {
  const { geometry } = place
  if (geometry.type !== 'MultiPolygon') return place
  const parts = geometry.coordinates.map((coordinates) => ({
    ...place,
    geometry: { type: 'Polygon' as const, coordinates },
  }))
  const area = geoPath(null)
  return parts.reduce((a, b) => (area.area(a) >= area.area(b) ? a : b))
}

export function PlaceMap({ level, values, chosen, label, onPick }: MapProps) {
  const shapes = useOutlines(level)
  const [pointed, setPointed] = useState<string | null>(null)
  const byCode = useMemo(() => new Map(values.map(({ code, value }) => [code, value])), [values])
  const most = values.reduce((largest, { value }) => Math.max(largest, value ?? 0), 1)
  const radius = (value: number) => Math.max(2, Math.sqrt(value / most) * MAX_RADIUS)
  const outlines = useMemo(
    () =>
      shapes?.map(({ code, name, path }) => (
        <path
          key={`${code}${name}`}
          d={path}
          class={`place${byCode.has(code) ? ' has' : ''}${chosen.has(code) ? ' chosen' : ''}`}
          onMouseEnter={() => setPointed(`${name}: ${describe(byCode, code)}`)}
          onClick={() => byCode.has(code) && onPick(code)}
        />
      )),
    [shapes, byCode, [...chosen].join()],
  )
  const ranked = values.toSorted((a, b) => (b.value ?? -1) - (a.value ?? -1))
  const onMap = new Set(shapes?.map(({ code }) => code))
  const outside = shapes === null ? [] : values.filter(({ code }) => !onMap.has(code)).map(({ code }) => code)
  const nameOf = (code: string) => shapes?.find((shape) => shape.code === code)?.name ?? code
  return (
    <figure class="map">
      <svg viewBox={`0 0 ${WIDTH} ${level === 'country_code' ? HEIGHT : 610}`} role="img" aria-label={label}>
        {outlines}
        {shapes?.flatMap(({ code, name, centre: [x, y] }) => {
          const value = byCode.get(code)
          return value === undefined || value === null || value <= 0
            ? []
            : [<circle key={`${code}${name}`} class="count" cx={x} cy={y} r={radius(value)} />]
        })}
      </svg>
      <figcaption aria-live="polite">{pointed ?? texts.map.hint}</figcaption>
      <p class="note">
        {texts.map.all} {texts.map.legend} {outside.length > 0 && texts.map.outside(outside.join(', '))}
      </p>
      <details>
        <summary>{texts.asList(ranked.length)}</summary>
        <ol class="places">
          {ranked.map(({ code, value }) => (
            <li key={code}>
              <button type="button" onClick={() => onPick(code)}>
                {nameOf(code)} <small>{code}</small>
              </button>{' '}
              <b>{value === null ? texts.unknown : formatNumber(value)}</b>
            </li>
          ))}
        </ol>
      </details>
    </figure>
  )
}

function describe(values: ReadonlyMap<string, number | null>, code: string): string {
  const value = values.get(code)
  if (value === undefined) return texts.map.none
  return value === null ? texts.unknown : formatNumber(value)
}
