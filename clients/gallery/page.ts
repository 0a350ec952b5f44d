// The page of the gallery for one language: made from what the examples print and draw, and compared with the accepted page.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

export interface Example {
  readonly file: string
  readonly title: string
  readonly about: string
  readonly code: string
  readonly output: string
  /** The name of the picture and its bytes. */
  readonly picture: [name: string, bytes: Buffer] | null
}

/** The page must not differ from day to day or from service to service. */
export function normalise(text: string, url: string): string {
  const [year, month, day] = new Date().toISOString().slice(0, 10).split('-').map(Number)
  return text
    .replaceAll(url, 'https://data.example.org')
    .replaceAll(new Date().toISOString().slice(0, 10), '2026-08-01')
    .replace(
      `year = {${year}},\n  month = {${month}},\n  day = {${day}}`,
      'year = {2026},\n  month = {8},\n  day = {1}',
    )
    .replace(/[ \t]+$/gm, '')
    .replace(/^\n+|\n+$/g, '')
}

export function renderPage(name: string, id: string, examples: readonly Example[]): string {
  const parts = examples.map(({ file, title, about, code, output, picture }) =>
    [
      `## ${title}`,
      ...(about === '' ? [] : [about]),
      ...(picture === null ? [] : [`![${title}](pictures/${picture[0]})`]),
      `[${file}](${file})`,
      `\`\`\`${id}\n${code}\n\`\`\``,
      `\`\`\`text\n${output}\n\`\`\``,
    ].join('\n\n'),
  )
  const about = `Ten analyses in ${name}. \`npm run dev\` in the repository starts a service with the same data.`
  const made = '<!-- Made from the examples by `node clients/gallery/run.ts --accept`; do not edit by hand. -->'
  return `# Examples\n\n${made}\n\n${about}\n\n${parts.join('\n\n')}\n`
}

/**
 * The bytes of a PNG depend on the versions of fonts and libraries, so only their number is compared. A picture with axes
 * and without data has a third of it. An SVG is drawn by our own code.
 */
export const isDrawn = (drawn: Buffer, accepted: Buffer): boolean => drawn.length > accepted.length / 2

/** Returns the files in the repository that differ, or writes them. */
export async function comparePage(
  directory: string,
  page: string,
  examples: readonly Example[],
  { accept }: { accept: boolean },
): Promise<string[]> {
  const target = path.join(directory, 'README.md')
  const pictures = examples.flatMap(({ picture }) => (picture === null ? [] : [picture]))
  if (accept) {
    await rm(path.join(directory, 'pictures'), { recursive: true, force: true })
    await mkdir(path.join(directory, 'pictures'))
    await writeFile(target, page)
    for (const [name, bytes] of pictures) await writeFile(path.join(directory, 'pictures', name), bytes)
    return []
  }
  const differing = (await readFile(target, 'utf8').catch(() => '')) === page ? [] : [target]
  for (const [name, bytes] of pictures) {
    const file = path.join(directory, 'pictures', name)
    const accepted = await readFile(file).catch(() => null)
    const isSame = name.endsWith('.svg') ? accepted?.equals(bytes) : accepted !== null && isDrawn(bytes, accepted)
    if (!isSame) differing.push(file)
  }
  return differing
}
