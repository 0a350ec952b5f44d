// The newest hundred releases, read once per run.
import { Failure, type Row, readEnvelope } from './expect.ts'
import { RELEASES, readOnce, type Service } from './service.ts'

export interface ReleaseList {
  /** The newest first. */
  readonly releases: Row[]
  readonly newest: Row
  /** False if there are more releases. */
  readonly complete: boolean
}

export const readReleases = readOnce(async (service: Service): Promise<ReleaseList> => {
  const { data, has_more: hasMore } = readEnvelope(await service.get(`${RELEASES}?num=100`))
  const [newest] = data
  if (newest === undefined) throw new Failure('expected at least one release, got none')
  return { releases: data, newest, complete: hasMore === false }
})
