// Writes generated files, or finds those that are out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The text of each file by its path. */
type GeneratedFiles = Readonly<Record<string, string>>

export function writeGenerated(root: string, files: GeneratedFiles): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** The paths of the files that are missing or have another text. */
export const findOutdated = (root: string, files: GeneratedFiles): string[] =>
  Object.entries(files)
    .filter(([name, text]) => {
      const file = path.join(root, name)
      return !existsSync(file) || readFileSync(file, 'utf8') !== text
    })
    .map(([name]) => name)
