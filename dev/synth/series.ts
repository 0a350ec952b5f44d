// The endless stream of reported series of a seed: which outbreak, which place, which status, told by which source.
// No two series of a stream share event, place, status and kind of count, so each is one series to the service too.
import { hash, imagineOutbreaks, locate, type Outbreak, type Place, pick } from './epidemic.ts'

export interface Series {
  readonly hash: number
  readonly outbreak: Outbreak
  readonly place: Place
  readonly status: string
  readonly cumulative: boolean
  /** The step at which a cumulative series is counted anew and may fall; -1 where it never is. */
  readonly breakStep: number
  readonly locationAsReported: string | null
  readonly locationType: string | null
  readonly dateType: string | null
  /** Days from the end of a step to its report. */
  readonly delay: number
  readonly deathsMissing: string | null
  readonly sourceName: string
  readonly sourceType: string | null
  readonly sourceUrl: string | null
  readonly verification: string
}

/** A place has three series: new and cumulative counts of one status, then new counts of another. */
const SERIES_PER_PLACE = 3
/** Outbreak i has the weight 1 / (i + OFFSET), which gives the first one 8 % of all series. */
const OFFSET = 1.7

const locationTypes = ['residence', 'residence', 'exposure', 'care', 'report', null]
const dateTypes = ['onset', 'onset', 'specimen', 'lab', 'care', 'notification', 'report', 'report', null]
const sourceTypes = ['official', 'official', 'official', 'international', 'media', 'literature', 'composite', null]
const verifications = ['verified', 'verified', 'unverified']

export function* streamSeries(seed: number): Generator<Series> {
  let sum = 0
  const outbreaks = imagineOutbreaks(seed).map((outbreak, index) => {
    sum += 1 / (index + OFFSET)
    return { outbreak, ceiling: sum, opened: 0 }
  })
  for (let index = 0; ; index++) {
    const own = hash(hash(seed, 2), index)
    const drawn = (own / 2 ** 32) * sum
    const chosen = outbreaks.find(({ ceiling }) => drawn < ceiling)
    if (chosen) yield openSeries(chosen.outbreak, chosen.opened++, hash(own, 1))
  }
}

function openSeries(outbreak: Outbreak, ordinal: number, own: number): Series {
  // Not every outbreak is told for the whole country.
  const place = locate(outbreak, (outbreak.hash % 4) + Math.floor(ordinal / SERIES_PER_PLACE))
  const kind = ordinal % SERIES_PER_PLACE
  const cumulative = kind === 1
  const status = outbreak.statuses[kind === 2 ? 1 : 0]
  // What new and cumulative counts have in common is drawn by the place.
  const shared = (draw: number) => hash(place.hash, draw)
  const source = String(shared(10) % 100).padStart(2, '0')
  const spot = place.locality ?? place.admin3 ?? place.admin2 ?? place.admin1 ?? outbreak.country.name
  return {
    hash: own,
    outbreak,
    place,
    status,
    cumulative,
    breakStep: cumulative && own % 8 === 0 ? 2 + ((own >>> 3) % (place.steps - 2)) : -1,
    locationAsReported: pick([null, null, spot.toUpperCase(), `"${spot}", ${outbreak.country.code}`], shared(11)),
    locationType: pick(locationTypes, shared(12)),
    dateType: pick(dateTypes, shared(13)),
    delay: shared(14) % 15,
    deathsMissing: status === 'discarded' ? 'not_applicable' : shared(15) % 6 === 0 ? 'not_reported' : null,
    sourceName: `Synthetic source ${source}`,
    sourceType: pick(sourceTypes, shared(16)),
    sourceUrl: shared(17) % 3 === 0 ? null : `https://example.org/synthetic/source-${source}`,
    verification: pick(verifications, own >>> 8),
  }
}
