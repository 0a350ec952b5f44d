// Why no test notices a planted fault: it changes nothing that can be observed, or costs more to notice than it harms.
import type { Mutant } from './report.ts'

interface Survivor {
  readonly source: string
  /** The line without and with the fault. */
  readonly code: string
  readonly mutant: string
  readonly reason: string
}

const survivors: readonly Survivor[] = [
  {
    source: 'src/auth/provisioning/keys.ts',
    code: 'order by signs_from desc, kid desc limit 1)`)',
    mutant: 'order by signs_from desc, kid limit 1)`)',
    reason: 'Two keys never have the same signs_from: each is added in a transaction of its own, under a lock.',
  },
  {
    source: 'src/api/paging/read-chunks.ts',
    code: "if (!number || !records || !bytes || !crc32 || !deflated) throw new Error('a chunk row does not have five columns')",
    mutant: "if (false) throw new Error('a chunk row does not have five columns')",
    reason: 'The statement selects five columns that are never null; the guard is for the compiler.',
  },
  {
    source: 'src/api/paging/read-chunks.ts',
    code: "if (row === undefined) throw new Error('an aggregate returned no row')",
    mutant: "if (false) throw new Error('an aggregate returned no row')",
    reason: 'An aggregate without group by always returns a row; the guard is for the compiler.',
  },
  {
    source: 'src/storage/chunk.ts',
    code: 'if (buffer.byteLength > Buffer.poolSize) buffer.transfer(0)',
    mutant: 'if (buffer.byteLength >= Buffer.poolSize) buffer.transfer(0)',
    reason: 'A text of exactly this length has memory of its own; freeing it or leaving it gives the same bodies.',
  },
  {
    source: 'src/storage/contract.ts',
    code: 'keysSince === 1 || readLastRelease(body) >= keysSince ? body : renderFields(fields, body)',
    mutant: 'keysSince === 1 && readLastRelease(body) >= keysSince ? body : renderFields(fields, body)',
    reason: 'Rendering a record that has all fields gives the same text; it only takes longer.',
  },
  {
    source: 'src/storage/gzip-splice.ts',
    code: "const isLongText = (part: Part): part is string => typeof part === 'string' && part.length > MAX_STORED_CHARACTERS",
    mutant:
      "const isLongText = (part: Part): part is string => typeof part === 'string' && part.length >= MAX_STORED_CHARACTERS",
    reason:
      'A text of exactly this length may be stored or compressed: both are valid and give the same bytes to the client.',
  },
  {
    source: 'src/storage/normalise-text.ts',
    code: 'if (PLAIN.test(text)) return { text, changes: [] }',
    mutant: 'if (false) return { text, changes: [] }',
    reason: 'The shortcut only saves time: a plain text passes the steps below unchanged.',
  },
  {
    source: 'src/publish/write/chunks.ts',
    code: "if (row === undefined) throw new Error('an aggregate returned no row')",
    mutant: "if (false) throw new Error('an aggregate returned no row')",
    reason: 'An aggregate without group by always returns a row; the guard is for the compiler.',
  },
  {
    source: 'src/publish/write/versions.ts',
    code: 'if (needed > block.length - used) {',
    mutant: 'if (needed >= block.length - used) {',
    reason: 'The buffer grows one line earlier than necessary.',
  },
  {
    source: 'src/publish/write/versions.ts',
    code: 'if (versions.bytes() >= BLOCK_BYTES) await flush()',
    mutant: 'if (versions.bytes() > BLOCK_BYTES) await flush()',
    reason: 'A block of exactly this size is written with the next batch.',
  },
  {
    source: 'src/publish/export/export-files.ts',
    code: 'where dataset = ${dataset.name} and release = ${release}`,',
    mutant: 'where dataset = ${dataset.name} or release = ${release}`,',
    reason: 'Further rows change nothing: a file is looked up by its name, which contains the dataset and the release.',
  },
]

type Planted = Pick<Mutant, 'source' | 'code' | 'mutant'>

const isSame = (a: Planted, b: Planted): boolean => a.source === b.source && a.code === b.code && a.mutant === b.mutant

export const reasonFor = (planted: Planted): string | null =>
  survivors.find((survivor) => isSame(survivor, planted))?.reason ?? null

/** Reasons for faults that a test does notice. */
export const staleReasons = (mutants: readonly Mutant[]): Survivor[] =>
  survivors.filter((survivor) => mutants.some((mutant) => mutant.killed && isSame(survivor, mutant)))
