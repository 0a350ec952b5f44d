// 14: the token endpoint, compared with only creating the signatures. Only reported, never a goal.
import { generateKeyPairSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { formatPost, load } from '../client.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import type { Stage } from '../stage.ts'
import { tokenRequest } from '../target.ts'

const CLIENTS = 8
/** As long as the signed part of a token. */
const TOKEN_BYTES = Buffer.alloc(460, 'x')
const signAsync = promisify(sign)

export async function measureTokens({ cached, options }: Stage): Promise<Measurements> {
  const request = formatPost('/oauth/token', tokenRequest(cached.credentials, cached.address))
  const measured = await measureInTurns(options.rounds, {
    tokens: async () =>
      (await load(cached.address, () => request, { connections: CLIENTS, duration: options.seconds })).perSecond,
    signatures: () => measureSigning(options.seconds),
  })
  return {
    results: [
      result(
        '14',
        'token endpoint / bare asynchronous ES256 signing',
        null,
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

/** ES256 like the default key of the service: P-256, with the signature as two numbers. */
async function measureSigning(seconds: number): Promise<number> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const began = performance.now()
  const end = began + seconds * 1000
  let signed = 0
  async function signUntilEnd(): Promise<void> {
    for (; performance.now() < end; signed++)
      await signAsync('sha256', TOKEN_BYTES, { key: privateKey, dsaEncoding: 'ieee-p1363' })
  }
  await Promise.all(Array.from({ length: CLIENTS }, signUntilEnd))
  return (signed * 1000) / (performance.now() - began)
}
