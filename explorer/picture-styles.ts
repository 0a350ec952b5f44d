// The rules of the style sheets that are about charts, for pictures that have no style sheet: which attributes an element with
// some classes gets, in light and in dark.
import type { StyleRule } from './src/picture/style-rule.ts'

const PROPERTIES = new Set([
  ...['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'stroke-linecap'],
  ...['font-size', 'font-weight', 'paint-order', 'display'],
])
/** Of an element in a chart: its kind, or classes that it must have. */
const SELECTOR = /^(?:\.plot )?(text|(?:\.[\w-]+)+)$/
const COLOUR = '#[0-9a-f]{3,8}'

const withoutMedia = (sheet: string): string => sheet.replaceAll(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '')
const withoutComments = (sheet: string): string => sheet.replaceAll(/\/\*.*?\*\//gs, '')

export function readPictureStyles(tokens: string, sheets: string): StyleRule[] {
  const pairs = new Map(
    [...tokens.matchAll(new RegExp(`--([\\w-]+):\\s*light-dark\\((${COLOUR}), (${COLOUR})\\)`, 'g'))].map(
      ([, name = '', light = '', dark = '']) => [name, [light, dark] as const],
    ),
  )
  const rules = [...withoutMedia(withoutComments(sheets)).matchAll(/([^{}]+)\{([^{}]*)\}/g)].flatMap(
    ([, selectors = '', body = '']) => {
      const set = readDeclarations(body, pairs)
      if (Object.keys(set).length === 0) return []
      return selectors.split(',').flatMap((selector): StyleRule[] => {
        const found = SELECTOR.exec(selector.trim())?.[1]
        if (found === undefined) return []
        return found === 'text'
          ? [{ element: 'text', classes: [], set }]
          : [{ element: '', classes: found.slice(1).split('.'), set }]
      })
    },
  )
  // As browsers do it: more classes come later, otherwise the order of the sheets decides.
  return rules.sort((a, b) => a.classes.length - b.classes.length)
}

type Pairs = ReadonlyMap<string, readonly [light: string, dark: string]>

function readDeclarations(body: string, pairs: Pairs): StyleRule['set'] {
  const set: Record<string, string | readonly [string, string]> = {}
  for (const declaration of body.split(';')) {
    const [name = '', ...rest] = declaration.split(':')
    const property = name.trim()
    if (!PROPERTIES.has(property)) continue
    const value = rest.join(':').trim()
    // Few programs besides browsers know color-mix().
    const [, mixed, percent] = /^color-mix\(in srgb, var\(--([\w-]+)\) (\d+)%, transparent\)$/.exec(value) ?? []
    const token = mixed ?? /^var\(--([\w-]+)\)$/.exec(value)?.[1]
    const pair = token === undefined ? undefined : pairs.get(token)
    if (pair !== undefined) set[property] = pair
    else if (!value.includes('(')) set[property] = value
    if (percent !== undefined) set[`${property}-opacity`] = String(Number(percent) / 100)
  }
  return set
}
