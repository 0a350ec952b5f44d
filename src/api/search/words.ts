// Splits names and queries into words that can be compared: lower case, without accents and punctuation. Pure.

/** Letters that Unicode does not decompose into a letter and an accent. */
const LETTERS: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' }

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[ßæœøłđı]/g, (letter) => LETTERS[letter] ?? letter)

/** The words of a name. French articles before an apostrophe are left out: Côte d'Ivoire is cote, ivoire. */
export const splitWords = (text: string): string[] =>
  fold(text)
    .replaceAll(/(?<![\p{L}\p{N}])[ld]['’](?=\p{L})/gu, '')
    .replaceAll(/['’`]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')

/** A name as one word, so that "monkey pox" and "monkeypox" are equal. */
export const joinWords = (text: string): string => fold(text).replaceAll(/[^\p{L}\p{N}]+/gu, '')

/** Words that many queries have and few names. `a`, `e` and `y` are not among them: hepatitis A, hepatitis E. */
const STOP_WORDS = new Set(
  `the of in and for at outbreak outbreaks epidemic epidemics event events cases
  de la le les du des en et au aux dans epidemie
  el los las del brote epidemia do da dos das no na em surto
  der die das und im von ausbruch`.split(/\s+/),
)

/** The words of a query that are searched for. If all are stop words, all of them. */
export function splitQuery(text: string): string[] {
  const words = [...new Set(splitWords(text))]
  const specific = words.filter((word) => !STOP_WORDS.has(word))
  return specific.length === 0 ? words : specific
}

/** The word with each two adjacent letters exchanged: `choelra` becomes `cholera` among others. */
export const exchangeLetters = (word: string): string[] =>
  [...new Set(Array.from({ length: word.length - 1 }, (_, i) => swap(word, i)))].filter((other) => other !== word)

const swap = (word: string, i: number) => word.slice(0, i) + word.charAt(i + 1) + word.charAt(i) + word.slice(i + 2)
