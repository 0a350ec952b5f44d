// Saves a chart as a file: the picture with its title, and what its marks mean, the source, release and citation below it.
import { wrapWords } from '../format.ts'
import { saveBlob } from './save-blob.ts'

interface PictureOptions {
  readonly title: string
  /** The lines below the picture. */
  readonly source: string
  readonly format: 'SVG' | 'PNG'
}

const NAMESPACE = 'http://www.w3.org/2000/svg'
/** What the style sheet sets, because a file has no style sheet. */
const PROPERTIES = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-family', 'font-size', 'opacity']
const [HEAD, LINE] = [34, 15]
/** Of a mark of the legend; of a character of the small text. */
const [MARK_ROW, MARK_WIDTH, CHARACTER] = [20, 22, 6]

export async function saveSvg(svg: SVGSVGElement, { title, source, format }: PictureOptions): Promise<void> {
  const picture = drawPicture(svg, title, source)
  const text = new XMLSerializer().serializeToString(picture)
  const blob = new Blob([text], { type: 'image/svg+xml' })
  const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  if (format === 'SVG') return saveBlob(blob, `${name}.svg`)
  const size = { width: Number(picture.getAttribute('width')), height: Number(picture.getAttribute('height')) }
  saveBlob(await toPng(blob, size), `${name}.png`)
}

function drawPicture(svg: SVGSVGElement, title: string, source: string): SVGSVGElement {
  const width = svg.clientWidth
  const marks = [...(svg.closest('figure')?.querySelectorAll('.legend li') ?? [])]
  const rows = placeMarks(marks, width)
  const foot = svg.clientHeight + HEAD + rows.length * MARK_ROW
  const lines = wrapWords(source, Math.floor(width / CHARACTER))
  const height = foot + lines.length * LINE + 10
  const picture = document.createElementNS(NAMESPACE, 'svg')
  for (const [name, value] of Object.entries({ xmlns: NAMESPACE, width, height }))
    picture.setAttribute(name, String(value))
  const background = document.createElementNS(NAMESPACE, 'rect')
  const { backgroundColor, color } = getComputedStyle(document.body)
  for (const [name, value] of Object.entries({ width, height, fill: backgroundColor }))
    background.setAttribute(name, String(value))
  picture.append(background, writeText(title, { y: 22, size: 16, color }))
  picture.append(copyAt(svg, 0, HEAD))
  for (const [i, row] of rows.entries()) {
    const y = svg.clientHeight + HEAD + i * MARK_ROW
    for (const { x, key, text } of row)
      picture.append(copyAt(key, x, y), writeText(text, { x: x + MARK_WIDTH, y: y + 12, size: 11, color }))
  }
  for (const [i, line] of lines.entries())
    picture.append(writeText(line, { y: foot + (i + 1) * LINE, size: 11, color }))
  return picture
}

function copyAt(svg: SVGSVGElement, x: number, y: number): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const [originals, copies] = [svg.querySelectorAll('*'), copy.querySelectorAll('*')]
  for (const [i, original] of originals.entries()) {
    const style = getComputedStyle(original)
    for (const property of PROPERTIES) copies[i]?.setAttribute(property, style.getPropertyValue(property))
  }
  copy.setAttribute('x', String(x))
  copy.setAttribute('y', String(y))
  return copy
}

interface PlacedMark {
  readonly x: number
  readonly key: SVGSVGElement
  readonly text: string
}

/** The marks of the legend, in as many rows as they need. */
function placeMarks(marks: readonly Element[], width: number): PlacedMark[][] {
  const rows: PlacedMark[][] = []
  let end = Number.POSITIVE_INFINITY
  for (const mark of marks) {
    const key = mark.querySelector('svg')
    const text = mark.textContent
    if (key === null) continue
    const needed = MARK_WIDTH + text.length * CHARACTER + 12
    if (end + needed > width) {
      rows.push([])
      end = 12
    }
    rows.at(-1)?.push({ x: end, key, text })
    end += needed
  }
  return rows
}

interface TextOptions {
  readonly x?: number
  readonly y: number
  readonly size: number
  readonly color: string
}

function writeText(text: string, { x = 12, y, size, color }: TextOptions): SVGTextElement {
  const element = document.createElementNS(NAMESPACE, 'text')
  const attributes = { x, y, fill: color, 'font-size': size, 'font-family': 'sans-serif' }
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.textContent = text
  return element
}

async function toPng(svg: Blob, { width, height }: { width: number; height: number }): Promise<Blob> {
  const url = URL.createObjectURL(svg)
  try {
    const image = new Image()
    image.src = url
    await image.decode()
    const canvas = document.createElement('canvas')
    const scale = Math.max(2, devicePixelRatio)
    canvas.width = width * scale
    canvas.height = height * scale
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)), 'image/png'),
    )
  } finally {
    URL.revokeObjectURL(url)
  }
}
