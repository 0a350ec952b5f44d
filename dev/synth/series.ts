// The endless stream of reported series of a seed: their outbreak, place, status and source.
// No two series of a stream share event, place, status and kind of count, so each is one series for the service too.
import { createOutbreaks, hash, locate, type Outbreak, type Place, pick } from './epidemic.ts'

export interface Series {
  readonly hash: number
  readonly outbreak: Outbreak
  readonly place: Place
  readonly status: string
  readonly cumulative: boolean
  /** The step at which a cumulative series is recounted and may decrease; -1 if there is none. */
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
/** Outbreak i has the weight 1 / (i + OFFSET), which gives the first one 8% of all series. */
const OFFSET = 1.7

const locationTypes = ['residence', 'residence', 'exposure', 'care', 'report', null]
const dateTypes = ['onset', 'onset', 'specimen', 'lab', 'care', 'notification', 'report', 'report', null]
const sourceTypes = ['official', 'official', 'official', 'international', 'media', 'literature', 'composite', null]
const verifications = ['verified', 'verified', 'unverified']

export function* streamSeries(seed: number): Generator<Series> {
  let sum = 0
  const weighted = createOutbreaks(seed).map((outbreak, index) => {
    sum += 1 / (index + OFFSET)
    return { outbreak, ceiling: sum, opened: 0 }
  })
  for (let index = 0; ; index++) {
    const hashValue = hash(hash(seed, 2), index)
    const point = (hashValue / 2 ** 32) * sum
    const chosen = weighted.find(({ ceiling }) => point < ceiling)
    if (chosen) yield createSeries(chosen.outbreak, chosen.opened++, hash(hashValue, 1))
  }
}

function createSeries(outbreak: Outbreak, ordinal: number, hashValue: number): Series {
  // Not every outbreak has counts for the whole country.
  const place = locate(outbreak, (outbreak.hash % 4) + Math.floor(ordinal / SERIES_PER_PLACE))
  const kind = ordinal % SERIES_PER_PLACE
  const cumulative = kind === 1
  const status = outbreak.statuses[kind === 2 ? 1 : 0]
  // New and cumulative counts share these values, so they depend only on the place.
  const shared = (draw: number) => hash(place.hash, draw)
  const source = String(shared(10) % 100).padStart(2, '0')
  const placeName = place.locality ?? place.admin3 ?? place.admin2 ?? place.admin1 ?? outbreak.country.name
  return {
    hash: hashValue,
    outbreak,
    place,
    status,
    cumulative,
    breakStep: cumulative && hashValue % 8 === 0 ? 2 + ((hashValue >>> 3) % (place.steps - 2)) : -1,
    locationAsReported: pick(
      [null, null, placeName.toUpperCase(), `"${placeName}", ${outbreak.country.code}`],
      shared(11),
    ),
    locationType: pick(locationTypes, shared(12)),
    dateType: pick(dateTypes, shared(13)),
    delay: shared(14) % 15,
    deathsMissing: status === 'discarded' ? 'not_applicable' : shared(15) % 6 === 0 ? 'not_reported' : null,
    sourceName: `Synthetic source ${source}`,
    sourceType: pick(sourceTypes, shared(16)),
    sourceUrl: shared(17) % 3 === 0 ? null : `https://example.org/synthetic/source-${source}`,
    verification: pick(verifications, hashValue >>> 8),
  }
}
