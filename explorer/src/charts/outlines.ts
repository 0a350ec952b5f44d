// The outlines of countries and of the states of the US, loaded when a map needs them.
import { geoEqualEarth, geoPath } from 'd3-geo'
import { useEffect, useState } from 'preact/hooks'
import { feature } from 'topojson-client'

declare const WORLD_OUTLINES: string
declare const STATE_OUTLINES: string

export interface Shape {
  readonly code: string
  readonly name: string
  readonly path: string
  readonly centre: readonly [number, number]
}

export type MapKind = 'world' | 'states'
/** The size of a map in its own units. */
export const SIZES: Readonly<Record<MapKind, readonly [number, number]>> = { world: [975, 430], states: [975, 610] }

const loaded = new Map<string, Promise<readonly Shape[]>>()

/** Null until the outlines have arrived; none are loaded if `kind` is null. */
export function useOutlines(kind: MapKind | null): readonly Shape[] | null {
  const [found, setFound] = useState<{ kind: string; shapes: readonly Shape[] } | null>(null)
  useEffect(() => {
    if (kind === null) return
    let isCurrent = true
    const url = kind === 'world' ? WORLD_OUTLINES : STATE_OUTLINES
    const loading = loaded.get(url) ?? fetch(url).then(async (response) => toShapes(kind, await response.json()))
    loaded.set(url, loading)
    loading.then(
      (shapes) => isCurrent && setFound({ kind, shapes }),
      () => loaded.delete(url),
    )
    return () => {
      isCurrent = false
    }
  }, [kind])
  return found !== null && found.kind === kind ? found.shapes : null
}

function toShapes(kind: MapKind, topology: Parameters<typeof feature>[0]): Shape[] {
  const places = feature(topology, topology.objects['places'] as never) as unknown as GeoJSON.FeatureCollection
  const kept = places.features.filter(({ properties }) => (properties as { code: string | null }).code !== 'AQ')
  // The outlines of the states are projected already.
  const world = { type: 'FeatureCollection' as const, features: kept }
  const path = geoPath(kind === 'world' ? geoEqualEarth().fitSize([...SIZES.world], world) : null)
  return kept.map((place) => {
    const { code, name } = place.properties as { code: string | null; name: string }
    return { code: code ?? '', name, path: path(place) ?? '', centre: path.centroid(largestPart(place)) }
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
