// Writes the elements of a chart as the text of an SVG, without a browser. A picture has no style sheet, so the rules of ours
// become attributes. Components must be pure: there are no hooks here.
import { type ComponentChildren, isValidElement } from 'preact'
import { escapeText } from '../format.ts'
import type { StyleRule } from './style-rule.ts'

/** `auto` follows the reader's browser. */
export type Theme = 'light' | 'dark' | 'auto'

/** Filled in by the build. */
declare const PICTURE_STYLES: readonly StyleRule[]

const chooseColour = (value: string | readonly [string, string], theme: Theme): string => {
  if (typeof value === 'string') return value
  const [light, dark] = value
  return theme === 'auto' ? `light-dark(${light}, ${dark})` : theme === 'light' ? light : dark
}

function styleOf(element: string, names: string, theme: Theme): Record<string, string> {
  const classes = new Set(names.split(' '))
  const rules = PICTURE_STYLES.filter(
    (rule) => (rule.element === '' || rule.element === element) && rule.classes.every((name) => classes.has(name)),
  )
  return Object.fromEntries(
    rules.flatMap(({ set }) => Object.entries(set).map(([name, value]) => [name, chooseColour(value, theme)] as const)),
  )
}

/** A tenth of a pixel is enough. */
const writeValue = (value: unknown): string =>
  typeof value === 'number' ? String(Math.round(value * 10) / 10) : escapeText(String(value))

export function renderShapes(node: ComponentChildren, theme: Theme): string {
  if (Array.isArray(node)) return node.map((one: ComponentChildren) => renderShapes(one, theme)).join('')
  if (typeof node === 'string' || typeof node === 'number') return escapeText(String(node))
  if (!isValidElement(node)) return ''
  const { type } = node
  const { children, class: names = '', ...props } = node.props as Record<string, unknown>
  if (typeof type === 'function')
    return renderShapes((type as (props: unknown) => ComponentChildren)(node.props), theme)
  const attributes = { ...styleOf(type, String(names), theme), ...props }
  const written = Object.entries(attributes).flatMap(([name, value]) =>
    value == null || value === false || typeof value === 'function' || name === 'ref' || name === 'key'
      ? []
      : [` ${name}="${writeValue(value)}"`],
  )
  const content = renderShapes(children as ComponentChildren, theme)
  return `<${type}${written.join('')}${content === '' ? '/>' : `>${content}</${type}>`}`
}
