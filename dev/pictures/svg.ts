// A few shapes from which the pictures of the documentation are drawn. Colours follow the light or dark scheme of the reader.

export type Tone = 'plain' | 'good' | 'bad' | 'quiet'

const STYLE = `
text { font: 14px system-ui, sans-serif; fill: #1b2733; }
.small { font-size: 12px; } .strong { font-weight: 600; } .number { font-family: ui-monospace, monospace; }
.paper { fill: #ffffff; } .line { stroke: #44546a; stroke-width: 1.5; fill: none; } .tip { fill: #44546a; }
.plain { fill: #e9f1fb; stroke: #0b57a4; } .good { fill: #e2f3e5; stroke: #1a7f37; }
.bad { fill: #fce6e4; stroke: #b3261e; } .quiet { fill: #f1f3f5; stroke: #7a8794; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .paper { fill: #17181c; } .line { stroke: #9fb0c3; } .tip { fill: #9fb0c3; }
  .plain { fill: #14304f; stroke: #6aa9f0; } .good { fill: #12351d; stroke: #56d364; }
  .bad { fill: #43191a; stroke: #ff8f87; } .quiet { fill: #262b33; stroke: #8b98a5; }
}`

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export const write = (x: number, y: number, text: string, style = '', anchor = 'middle'): string =>
  `<text x="${x}" y="${y}" class="${style}" text-anchor="${anchor}">${escape(text)}</text>`

/** A box with lines of text in its middle. */
export function box(
  [x, y, width, height]: readonly [number, number, number, number],
  lines: readonly string[],
  { tone = 'plain', style = '' }: { tone?: Tone; style?: string } = {},
): string {
  const first = y + height / 2 - (lines.length - 1) * 9 + 5
  return [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" class="${tone}" stroke-width="1.5"/>`,
    ...lines.map((line, i) => write(x + width / 2, first + i * 18, line, i === 0 ? `strong ${style}` : 'small')),
  ].join('')
}

export const bar = (x: number, y: number, width: number, height: number, tone: Tone): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" class="${tone}"/>`

export const line = (x1: number, y1: number, x2: number, y2: number, dashed = false): string =>
  `<path class="line" d="M${x1} ${y1}L${x2} ${y2}"${dashed ? ' stroke-dasharray="4 4"' : ''}/>`

export function arrow(x1: number, y1: number, x2: number, y2: number): string {
  const angle = Math.atan2(y2 - y1, x2 - x1)
  const corner = (turn: number) =>
    `${(x2 - 9 * Math.cos(angle + turn)).toFixed(1)} ${(y2 - 9 * Math.sin(angle + turn)).toFixed(1)}`
  return `${line(x1, y1, x2, y2)}<path class="tip" d="M${x2} ${y2}L${corner(0.4)}L${corner(-0.4)}Z"/>`
}

/** `title` is what the picture shows, for people who do not see it. */
export const picture = (width: number, height: number, title: string, shapes: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...shapes,
    '</svg>\n',
  ].join('\n')
