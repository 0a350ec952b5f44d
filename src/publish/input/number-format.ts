// Numbers as others write them: with a mark between thousands, with a decimal part that says nothing.

/** A sign such as that of <5 stays before them. Gives digits, and a decimal point only where a part of a whole follows; null where the text is no number. */
export function createNumberReader(thousands?: string): (text: string) => string | null {
  const point = thousands === '.' ? ',' : '\\.'
  const grouped = thousands === undefined ? '' : `|[1-9]\\d{0,2}(?:\\${thousands}\\d{3})+`
  const written = new RegExp(
    `^(?<sign>(?:[<>]=?|[≤≥~≈])\\s?)?(?<whole>-?(?:0|[1-9]\\d*${grouped}))(?:${point}(?<part>\\d+))?$`,
  )
  return (text) => {
    const { sign = '', whole = '', part = '' } = written.exec(text)?.groups ?? {}
    if (whole === '') return null
    const digits = thousands === undefined ? whole : whole.replaceAll(thousands, '')
    const rest = part.replace(/0+$/, '')
    return sign + (rest === '' ? digits : `${digits}.${rest}`)
  }
}
