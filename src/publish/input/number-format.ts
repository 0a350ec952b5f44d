// Parses numbers in other formats: with a thousands separator, with decimals that are zero.

/** The parser gives digits, with a decimal point only if the fraction is not zero, or null if the text is not a number. A sign as in <5 is kept. */
export function createNumberParser(thousands?: string): (text: string) => string | null {
  const point = thousands === '.' ? ',' : '\\.'
  const grouped = thousands === undefined ? '' : `|[1-9]\\d{0,2}(?:\\${thousands}\\d{3})+`
  const expression = new RegExp(
    `^(?<sign>(?:[<>]=?|[≤≥~≈])\\s?)?(?<whole>-?(?:0|[1-9]\\d*${grouped}))(?:${point}(?<part>\\d+))?$`,
  )
  return (text) => {
    const { sign = '', whole = '', part = '' } = expression.exec(text)?.groups ?? {}
    if (whole === '') return null
    const digits = thousands === undefined ? whole : whole.replaceAll(thousands, '')
    const rest = part.replace(/0+$/, '')
    return sign + (rest === '' ? digits : `${digits}.${rest}`)
  }
}
