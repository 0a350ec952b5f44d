// Parses counts with a sign, as bulletins print them: "<5", ">7300000", "~100". Pure.

export interface SignedCount {
  /** The bound is itself a possible count: <5 is at most 4. */
  value: number
  qualifier: 'at_least' | 'at_most' | 'approximate'
}

const SIGNED = /^(?<sign><=|>=|[<>≤≥~≈])\s?(?<digits>0|[1-9]\d{0,9})$/u

const SIGNS: Record<string, [qualifier: SignedCount['qualifier'], adjustment: number]> = {
  '<': ['at_most', -1],
  '<=': ['at_most', 0],
  '≤': ['at_most', 0],
  '>': ['at_least', 1],
  '>=': ['at_least', 0],
  '≥': ['at_least', 0],
  '~': ['approximate', 0],
  '≈': ['approximate', 0],
}

/** Null if the text is not a sign and a number, or if the count would be negative. */
export function parseSignedCount(text: string): SignedCount | null {
  const { sign = '', digits = '' } = SIGNED.exec(text)?.groups ?? {}
  const meaning = SIGNS[sign]
  if (meaning === undefined) return null
  const value = Number(digits) + meaning[1]
  return value < 0 ? null : { value, qualifier: meaning[0] }
}
