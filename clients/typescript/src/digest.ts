// The digest of a release from its records, as the service describes it: SHA-256 over the digests of each hundred of ids.

import { damaged } from './errors.ts'
import type { Release } from './generated/answers.ts'
import { Sha256, toHex } from './sha256.ts'

const HUNDRED = 100

/** The id of a record, from its text. It is the first member. */
export function readId(line: string): number {
  const id = Number(/^\{"id":([1-9]\d*)[,}]/.exec(line)?.[1])
  if (!Number.isSafeInteger(id)) throw damaged(`A line does not begin with an id: ${line.slice(0, 40)}`)
  return id
}

/** Takes the records in ascending order of id, and keeps none of them. */
export class ReleaseDigest {
  readonly #release = new Sha256()
  readonly #encoder = new TextEncoder()
  #hundred = new Sha256()
  #lastId = 0
  #records = 0

  add(line: string): void {
    const id = readId(line)
    if (id <= this.#lastId) throw damaged(`Record ${id} comes after record ${this.#lastId}`)
    const isNext = Math.floor((id - 1) / HUNDRED) !== Math.floor((this.#lastId - 1) / HUNDRED)
    if (isNext && this.#records > 0) this.#endHundred()
    this.#lastId = id
    this.#records += 1
    this.#hundred.update(this.#encoder.encode(`${line}\n`))
  }

  get records(): number {
    return this.#records
  }

  /** In hexadecimal digits. The object cannot be used afterwards. */
  end(): string {
    if (this.#records > 0) this.#endHundred()
    return toHex(this.#release.digest())
  }

  #endHundred(): void {
    this.#release.update(this.#hundred.digest())
    this.#hundred = new Sha256()
  }
}

/** The digest of records as lines without their ends, in ascending order of id. */
export async function digest(lines: Iterable<string> | AsyncIterable<string>): Promise<string> {
  const result = new ReleaseDigest()
  for await (const line of lines) result.add(line)
  return result.end()
}

/** Throws if records are not those of a release. */
export function requireDigest(computed: string, release: Release): string {
  if (computed === release.digest) return computed
  throw damaged(
    `The records are not those of release ${release.number}: their digest is ${computed}, not ${release.digest}`,
  )
}
