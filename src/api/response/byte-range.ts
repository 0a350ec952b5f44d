// Which bytes of a file a request wants (RFC 9110, section 14). Pure. Several ranges get the whole file.
// Our own because range-parser 1.3 calls a suffix longer than the file unsatisfiable (14.1.2: it is the whole file), says the
// same of units it does not know (14.2: ignore them), and reads every range of a header with thousands of them.
export interface ByteRange {
  readonly start: number
  /** The first byte that is not wanted. */
  readonly end: number
}

/** Null where the whole is wanted: there is no Range header, or not one that is understood (14.2: ignore it then). */
export function readByteRange(header: string | undefined, bytes: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? '') ?? []
  if (first === '') return last === '' ? null : readSuffix(Number(last), bytes)
  if (last !== '' && Number(last) < Number(first)) return null
  if (Number(first) >= bytes) return 'unsatisfiable'
  return { start: Number(first), end: last === '' ? bytes : Math.min(Number(last) + 1, bytes) }
}

const readSuffix = (length: number, bytes: number): ByteRange | 'unsatisfiable' =>
  length === 0 || bytes === 0 ? 'unsatisfiable' : { start: Math.max(0, bytes - length), end: bytes }
