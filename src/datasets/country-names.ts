// English names of countries, as far as they are known: ISO 3166-1, those of the Unicode locale data that Node carries, and
// others in common use. Answers whether a name belongs to a code, belongs to another one, or is not known at all.
import { iso31661 } from 'iso-3166'

/** Names that neither list has. */
const ALTERNATIVES: Record<string, string> = {
  AE: 'UAE',
  BQ: 'Bonaire, Saint Eustatius and Saba',
  BS: 'The Bahamas',
  CD: 'Democratic Republic of the Congo; Democratic Republic of Congo; Congo (Kinshasa); DR Congo; DRC; Zaire',
  CG: 'Republic of the Congo; Republic of Congo; Congo (Brazzaville); Congo Republic',
  CI: 'Ivory Coast',
  CN: "People's Republic of China; Mainland China",
  CZ: 'Czech Republic',
  FM: 'Micronesia (Federated States of)',
  GB: 'UK; Great Britain; The United Kingdom',
  GM: 'The Gambia',
  HK: 'Hong Kong SAR; China, Hong Kong Special Administrative Region',
  KP: "Democratic People's Republic of Korea; Korea, North; DPRK",
  KR: 'Republic of Korea; Korea, South',
  LA: 'Lao PDR',
  MK: 'Macedonia; The former Yugoslav Republic of Macedonia',
  MM: 'Burma',
  MO: 'Macau; Macao SAR; China, Macao Special Administrative Region',
  PS: 'Palestine; occupied Palestinian territory; occupied Palestinian territory, including east Jerusalem; West Bank and Gaza',
  RE: 'La Reunion',
  SZ: 'Swaziland',
  TL: 'East Timor',
  TR: 'Turkey',
  TW: 'Taiwan*',
  US: 'US; USA; The United States',
  VA: 'Vatican',
  VG: 'Virgin Islands, British',
  VI: 'United States Virgin Islands; Virgin Islands, U.S.',
}

/** Letters alone, without case, accents and the words that one spelling has and the next has not. */
const fold = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('&', ' and ')
    .replace(/\bst\b\.?/g, 'saint')
    .replace(/[^a-z]+/g, ' ')
    .replace(/\b(the|of)\b/g, ' ')
    .replaceAll(/\s+/g, '')

/** "Bolivia, Plurinational State of" is also called Bolivia, and Plurinational State of Bolivia. */
function spellingsOf(name: string): string[] {
  const [, short, rest] = /^([^,(]+)[,(]\s*([^)]+)/.exec(name) ?? []
  return short === undefined ? [name] : [name, short, `${rest} ${short}`]
}

const displayed = new Intl.DisplayNames('en', { type: 'region' })
const codesByName = new Map<string, Set<string>>()
for (const { alpha2, name } of iso31661) {
  const listed = [name, displayed.of(alpha2) ?? name].flatMap(spellingsOf)
  for (const spelling of [...listed, ...(ALTERNATIVES[alpha2]?.split('; ') ?? [])]) {
    const folded = fold(spelling)
    codesByName.set(folded, (codesByName.get(folded) ?? new Set()).add(alpha2))
  }
}

/** `other` where the name is known, and only as that of another country. */
export function compareCountryName(code: string, name: string): 'same' | 'other' | 'unknown' {
  const codes = codesByName.get(fold(name))
  if (codes === undefined) return 'unknown'
  return codes.has(code) ? 'same' : 'other'
}
