// Specification section 8: values within the limits. parameters.ts checks the values beyond them.
import { check, dataCheck, type Section } from '../check.ts'
import { expectEqual, expectStatus, expectThat, idsOf, readEnvelope, readRecords } from '../expect.ts'
import { V1, V2 } from '../service.ts'

const TOKENS_IN_A_ROW = 40
export const MAX_NUM = 1000
const DEFAULT_NUM = 100

export const limits: Section = {
  name: 'limits',
  checks: [
    check('num=1 is accepted in v1 and returns one record', async (service) =>
      expectEqual('records', readRecords(await service.get(`${V1}?offset=0&num=1`)).length, 1),
    ),
    check('num=1 is accepted in v2 and returns one record', async (service) =>
      expectEqual('records', readEnvelope(await service.get(`${V2}?num=1`)).data.length, 1),
    ),
    dataCheck(`num=${MAX_NUM} is accepted in v1 and returns so many records, or all`, async (walk, service) => {
      const { length } = readRecords(await service.get(`${V1}?offset=0&num=${MAX_NUM}&release=${walk.release}`))
      expectEqual('records', length, Math.min(MAX_NUM, walk.records.length))
    }),
    dataCheck(`num=${MAX_NUM} is accepted in v2 and returns so many records, or all`, async (walk, service) => {
      const { length } = readEnvelope(await service.get(`${V2}?num=${MAX_NUM}`)).data
      expectEqual('records', length, Math.min(MAX_NUM, walk.records.length))
    }),
    dataCheck('num defaults to 100 in v1', async (walk, service) => {
      const ids = idsOf(readRecords(await service.get(`${V1}?release=${walk.release}`)))
      expectEqual('records', ids.length, Math.min(DEFAULT_NUM, walk.records.length))
    }),
    dataCheck('num defaults to 100 in v2', async (walk, service) => {
      const { length } = readEnvelope(await service.get(V2)).data
      expectEqual('records', length, Math.min(DEFAULT_NUM, walk.records.length))
    }),
    check(`there is no limit on token requests: ${TOKENS_IN_A_ROW} in a row`, async (service) => {
      for (let count = 0; count < TOKENS_IN_A_ROW; count += 1) expectStatus(await service.postTokenJson(), 200)
    }),
    check('tokens may be requested concurrently', async (service) => {
      const tokens = await Promise.all(Array.from({ length: 10 }, () => service.newToken()))
      expectEqual('different tokens', new Set(tokens).size, tokens.length)
    }),
    check('a data response has both RateLimit and RateLimit-Policy, or neither', async (service) => {
      const response = await service.get(`${V2}?num=1`)
      expectStatus(response, 200)
      const present = ['ratelimit', 'ratelimit-policy'].filter((name) => response.headers.has(name))
      expectThat(present.length !== 1, 'both headers or neither', present)
    }),
  ],
}
