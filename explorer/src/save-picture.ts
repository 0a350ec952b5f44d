// Saves a chart as a file: the picture with its title, and the source, release and citation printed below it.
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
  const copy = svg.cloneNode(true) as SVGSVGElement
  const [originals, copies] = [svg.querySelectorAll('*'), copy.querySelectorAll('*')]
  for (const [i, original] of originals.entries()) {
    const style = getComputedStyle(original)
    for (const property of PROPERTIES) copies[i]?.setAttribute(property, style.getPropertyValue(property))
  }
  const width = svg.clientWidth
  const lines = wrap(source, Math.floor(width / 6))
  const height = svg.clientHeight + HEAD + lines.length * LINE + 10
  const picture = document.createElementNS(NAMESPACE, 'svg')
  for (const [name, value] of Object.entries({ xmlns: NAMESPACE, width, height })) picture.setAttribute(name, String(value))
  const background = document.createElementNS(NAMESPACE, 'rect')
  const { backgroundColor, color } = getComputedStyle(document.body)
  for (const [name, value] of Object.entries({ width, height, fill: backgroundColor })) background.setAttribute(name, String(value))
  picture.append(background, writeText(title, { y: 22, size: 16, color }))
  copy.setAttribute('y', String(HEAD))
  picture.append(copy)
  for (const [i, line] of lines.entries())
    picture.append(writeText(line, { y: svg.clientHeight + HEAD + (i + 1) * LINE, size: 11, color }))
  return picture
}

function writeText(text: string, { y, size, color }: { y: number; size: number; color: string }): SVGTextElement {
  const element = document.createElementNS(NAMESPACE, 'text')
  const attributes = { x: 12, y, fill: color, 'font-size': size, 'font-family': 'sans-serif' }
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value))
  element.textContent = text
  return element
}

function wrap(text: string, characters: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < characters) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
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

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
