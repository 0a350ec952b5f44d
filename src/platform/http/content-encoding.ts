// Which content coding an answer gets (RFC 9110, 12.5.3): gzip for whoever takes it, and the bare text for everybody else.
export type ContentEncoding = 'gzip' | 'identity'

export function chooseEncoding(accepted: string | undefined): ContentEncoding {
  const quality = new Map((accepted ?? '').split(',').map(readCoding))
  const any = quality.get('*')
  const gzip = quality.get('gzip') ?? quality.get('x-gzip') ?? any
  // What was not named may always be sent bare; an answer that nobody would take is sent all the same.
  const identity = quality.get('identity') ?? any
  if (identity === 0) return gzip === 0 ? 'identity' : 'gzip'
  return gzip !== undefined && gzip > 0 && gzip >= (identity ?? 0) ? 'gzip' : 'identity'
}

/** A weight that cannot be read is none, and so 1. */
function readCoding(text: string): [coding: string, quality: number] {
  const [coding = '', ...parameters] = text.toLowerCase().split(';')
  const weight = parameters.map((parameter) => /^\s*q\s*=\s*([01](\.\d*)?)\s*$/.exec(parameter)?.[1]).find(Boolean)
  return [coding.trim(), Number(weight ?? 1)]
}
