// The list of releases, read once for each run: the newest hundred of them.
import { Failure, type Row, readEnvelope } from './expect.ts'
import { RELEASES, readOnce, type Service } from './service.ts'

export interface ReleaseList {
  /** The newest first. */
  readonly releases: Row[]
  readonly newest: Row
  /** False where there are more than were read. */
  readonly complete: boolean
}

export const readReleases = readOnce(async (service: Service): Promise<ReleaseList> => {
  const { data, has_more: hasMore } = readEnvelope(await service.get(`${RELEASES}?num=100`))
  const [newest] = data
  if (newest === undefined) throw new Failure('expected at least one release, seen none')
  return { releases: data, newest, complete: hasMore === false }
})
