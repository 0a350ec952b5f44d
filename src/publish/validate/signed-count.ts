// Counts as bulletins print them: "<5", ">7300000", "~100". Pure.

export interface SignedCount {
  /** The bound itself is among the possible counts: <5 is 4 at most. */
  value: number
  qualifier: 'at_least' | 'at_most' | 'approximate'
}

const SIGNED = /^(?<sign><=|>=|[<>≤≥~≈])\s?(?<digits>0|[1-9]\d{0,9})$/u

const READINGS: Record<string, [qualifier: SignedCount['qualifier'], beyond: number]> = {
  '<': ['at_most', -1],
  '<=': ['at_most', 0],
  '≤': ['at_most', 0],
  '>': ['at_least', 1],
  '>=': ['at_least', 0],
  '≥': ['at_least', 0],
  '~': ['approximate', 0],
  '≈': ['approximate', 0],
}

/** Null where the text is not a number behind a sign, and for less than nothing. */
export function readSignedCount(text: string): SignedCount | null {
  const { sign = '', digits = '' } = SIGNED.exec(text)?.groups ?? {}
  const reading = READINGS[sign]
  if (reading === undefined) return null
  const value = Number(digits) + reading[1]
  return value < 0 ? null : { value, qualifier: reading[0] }
}
