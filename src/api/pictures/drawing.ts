// The program that draws pictures. It is built with the explorer, from the same charts, and loaded once: without a built explorer
// there are no pictures.
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

export const THEMES = ['light', 'dark'] as const
/** `auto` follows the reader's browser. */
export type Theme = (typeof THEMES)[number] | 'auto'

/** What explorer/src/picture/draw.tsx exports. Its responses are those of the API. */
interface DrawingProgram {
  readonly isCurve: (series: object, hasOwnInterval: boolean) => boolean
  readonly drawPicture: (answer: object, options: { readonly width: number; readonly theme: Theme }) => string
  readonly drawEmbed: (answer: object, options: EmbedOptions) => string
  /** The only style that the page of an embed has. */
  readonly embedStyle: (theme: Theme) => string
}

interface EmbedOptions {
  readonly theme: Theme
  readonly baseUrl: string
  readonly filters: string
  readonly newest: number | null
  readonly hasExplorer: boolean
  readonly oembed: string | null
}

export interface Drawing extends DrawingProgram {
  /** Another version may draw the same numbers in another way. */
  readonly version: string
}

/** Null if the explorer was not built. */
export async function loadDrawing(directory: string): Promise<Drawing | null> {
  const file = path.join(directory, 'draw.mjs')
  if (!existsSync(file)) return null
  const program = (await import(pathToFileURL(file).href)) as DrawingProgram
  return { ...program, version: hash('sha256', readFileSync(file), 'base64url').slice(0, 12) }
}
