// Goal 9: the token endpoint, beside nothing but the signatures it makes.
import { generateKeyPairSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { load, writePost } from '../client.ts'
import { type Findings, figure, result } from '../goal.ts'
import { ratios, takeTurns } from '../measure.ts'
import type { Stage } from '../stage.ts'
import { tokenRequest } from '../target.ts'

const CLIENTS = 8
/** As long as what is signed of a token. */
const SIGNED = Buffer.alloc(460, 'x')
const signLater = promisify(sign)

export async function measureTokens({ cached, options }: Stage): Promise<Findings> {
  const request = writePost('/oauth/token', tokenRequest(cached.credentials, cached.address))
  const measured = await takeTurns(options.rounds, {
    tokens: async () =>
      (await load(cached.address, () => request, { connections: CLIENTS, goesOn: options.seconds })).perSecond,
    signatures: () => signOnAndOn(options.seconds),
  })
  return {
    results: [
      result(
        '9',
        'token endpoint / bare asynchronous ES256 signing',
        { atLeast: 0.65 },
        ratios(measured.tokens, measured.signatures),
      ),
    ],
    figures: [
      figure('node:crypto: ES256 signatures', 'per s', measured.signatures),
      figure('service: tokens', 'per s', measured.tokens),
    ],
    skipped: [],
  }
}

/** ES256 as the default key of the service signs: P-256, the signature as two numbers. */
async function signOnAndOn(seconds: number): Promise<number> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const began = performance.now()
  const end = began + seconds * 1000
  let signed = 0
  async function signUntilEnd(): Promise<void> {
    for (; performance.now() < end; signed++)
      await signLater('sha256', SIGNED, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  }
  await Promise.all(Array.from({ length: CLIENTS }, signUntilEnd))
  return (signed * 1000) / (performance.now() - began)
}
