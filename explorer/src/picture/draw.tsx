// The pictures that the service draws: an SVG that needs nothing else, and the page of an iframe. Built for Node, loaded by the
// service (src/api/pictures). Pure: answers of the API in, text out.
import { DEFAULT_VIEW, formatAddress, parseQuestion } from '../address.ts'
import { listSources } from '../event/picture-words.ts'
import { escapeText, wrapWords } from '../format.ts'
import { formOf } from '../forms.ts'
import type { PictureAnswer, PictureSeries } from './answer.ts'
import { type Chart, drawChart } from './chart.tsx'
import { renderShapes, type Theme } from './render.ts'

/** Whether the answer is drawn as a curve. Otherwise the totals are needed. */
export const isCurve = (series: PictureSeries, hasOwnInterval: boolean): boolean =>
  formOf(series as Parameters<typeof formOf>[0], [], hasOwnInterval) === 'curve'

const FONTS = "'Source Sans 3', 'Segoe UI', system-ui, -apple-system, Roboto, 'Noto Sans', sans-serif"
const PAD = 16

interface Line {
  readonly text: string
  readonly size: number
  readonly class: string
}

/** A character is about half as wide as high; some fonts are wider. */
const wrapLine = (width: number, { text, size, ...line }: Line): Line[] =>
  wrapWords(text, Math.floor(width / (size * (line.class === 'val' ? 0.63 : 0.6)))).map((part) => ({
    ...line,
    text: part,
    size,
  }))

const sourceLine = ({ sources, release }: PictureAnswer): string =>
  `${sources.length === 0 ? 'No data' : listSources(sources)}, release ${release}`

/** A file of its own: colours as values, no style sheet, no font, no script. */
export function drawPicture(answer: PictureAnswer, { width, theme }: { width: number; theme: Theme }): string {
  const inner = width - 2 * PAD
  const chart = drawChart(answer, inner, 'p')
  const above = [
    { text: answer.title, size: 21, class: 'val' },
    { text: chart.title, size: 15, class: 'name' },
    ...chart.lines.map((text) => ({ text, size: 13, class: '' })),
  ]
  const below = [
    ...chart.notes.map((text, i) => ({ text: `${i + 1}: ${text}`, size: 13, class: 'ann' })),
    { text: sourceLine(answer), size: 13, class: 'ann' },
    { text: answer.citation, size: 12, class: '' },
  ]
  const head = placeLines(above, inner, PAD)
  const top = head.end + 12
  const foot = placeLines(below, inner, top + chart.height + 8)
  const height = Math.ceil(foot.end + PAD)
  const shapes = renderShapes(
    <>
      <rect class="paper" x={0} y={0} width={width} height={height} />
      {[...head.placed, ...foot.placed].map(({ text, size, y, ...line }) => (
        <text key={y} class={line.class} x={PAD} y={y} font-size={size}>
          {text}
        </text>
      ))}
      <g transform={`translate(${PAD} ${top})`}>{chart.shapes}</g>
    </>,
    theme,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title desc" font-family="${FONTS}"><title id="title">${escapeText(answer.title)}</title><desc id="desc">${escapeText(`${chart.description.replace(/\.$/, '')}. ${sourceLine(answer)}.`)}</desc>${shapes}</svg>`
}

function placeLines(lines: readonly Line[], width: number, start: number) {
  let end = start
  const placed = lines.flatMap((line) => {
    end += line.size * 0.25
    return wrapLine(width, line).map((part) => {
      end += part.size * 1.25
      return { ...part, y: Math.round(end) }
    })
  })
  return { placed, end }
}

interface EmbedOptions {
  readonly theme: Theme
  /** The address of the service. */
  readonly baseUrl: string
  /** The filters of the question, as a query string. */
  readonly filters: string
  /** A newer release; null if this is the newest. */
  readonly newest: number | null
  readonly hasExplorer: boolean
  /** Where programs learn how to embed the page; null if its address has no key. */
  readonly oembed: string | null
}

/** Drawings of three widths: the one that fits is shown, so that its text keeps about its size. */
const WIDTHS = [360, 560, 800] as const

/** The style of the page. The service allows exactly this text. */
export const embedStyle = (theme: Theme): string => {
  const pair = (light: string, dark: string) =>
    theme === 'auto' ? `light-dark(${light},${dark})` : theme === 'light' ? light : dark
  return [
    `:root{color-scheme:${theme === 'auto' ? 'light dark' : theme};background:${pair('#fff', '#18222c')}}`,
    `*{box-sizing:border-box;margin:0}`,
    `body{font:13px/1.45 ${FONTS};color:${pair('#414e5b', '#b9c4cf')};padding:12px 16px}`,
    `h1{font-size:21px;line-height:1.25}h2{font-size:15px}h1,h2{color:${pair('#14202b', '#e9eef3')};font-weight:650}`,
    `a{color:${pair('#0a5a9c', '#7dbdf2')}}p,ol{margin-top:4px}figure{margin:10px 0}ol{padding-left:20px}`,
    `svg{display:block;width:100%;height:auto;overflow:visible;max-width:1040px}.m,.l,.narrow{overflow-wrap:anywhere}`,
    `footer p{overflow-wrap:anywhere}.newer{font-weight:650;color:${pair('#8f5200', '#f7b750')}}`,
    `.m,.l{display:none}`,
    `@media(min-width:520px){.s,.narrow{display:none}.m{display:block}}`,
    `@media(min-width:768px){.m{display:none}.l{display:block}}`,
  ].join('')
}

/** A whole page without a script, for an iframe. */
export function drawEmbed(answer: PictureAnswer, options: EmbedOptions): string {
  const { theme, newest, oembed } = options
  const charts = WIDTHS.map((width, i) => ({
    width,
    name: ['s', 'm', 'l'][i] ?? '',
    ...drawChart(answer, width, String(i)),
  }))
  const [narrow] = charts
  const { title, lines } = narrow as Chart
  const notes = charts.find((chart) => chart.notes.length > 0)?.notes ?? []
  const paragraphs = lines.map((line) => `<p>${escapeText(line)}</p>`).join('')
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeText(answer.title)}</title>${
    oembed === null
      ? ''
      : `<link rel="alternate" type="application/json+oembed" title="${escapeText(answer.title)}" href="${escapeText(oembed)}">`
  }<style>${embedStyle(theme)}</style></head><body><main><h1>${escapeText(answer.title)}</h1><h2>${escapeText(title)}</h2>${paragraphs}<figure>${charts
    .map((chart) => drawInline(chart, theme))
    .join('')}</figure>${
    notes.length === 0 ? '' : `<ol class="narrow">${notes.map((note) => `<li>${escapeText(note)}</li>`).join('')}</ol>`
  }</main><footer><p>${escapeText(sourceLine(answer))}. ${linkTo(options, answer.release, 'Open in the explorer')}</p>${
    newest === null
      ? ''
      : `<p class="newer">A newer release exists: release ${newest}. ${linkTo(options, newest, 'See it')}</p>`
  }<p>${escapeText(answer.citation)}</p></footer></body></html>
`
}

const drawInline = (chart: Chart & { width: number; name: string }, theme: Theme): string =>
  `<svg class="${chart.name}" viewBox="0 0 ${chart.width} ${chart.height}" role="img" aria-label="${escapeText(chart.description)}">${renderShapes(chart.shapes, theme)}</svg>`

function linkTo({ baseUrl, filters, hasExplorer }: EmbedOptions, release: number, words: string): string {
  if (!hasExplorer) return ''
  const question = parseQuestion(filters)
  const address = formatAddress({
    page: question.event?.length === 1 ? 'event' : 'compare',
    item: null,
    tab: 'overview',
    question,
    view: { ...DEFAULT_VIEW, release },
  })
  return `<a href="${escapeText(baseUrl + address)}" target="_blank" rel="noopener">${words}</a>`
}
