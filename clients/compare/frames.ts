// node clients/compare/frames.ts: the columns of a release in pandas, polars and R, and of its Parquet file: the same type, the
// same nulls and the same values in each. The text of a value that is hashed does not depend on the language.
import path from 'node:path'
import { reportFindings } from '../report.ts'
import { publishSample, python, runProgram, withService } from '../service.ts'
import { type Column, compareColumns, readParquet } from './columns.ts'

const clients = path.resolve(import.meta.dirname, '..')
const RELEASE = 6
/** What the programs print: each frame from the file of the release, and from the pages. */
const FRAMES = ['pandas', 'polars', 'R'].flatMap((frame) => [frame, `${frame}, walked`])

const published = await publishSample()
await withService(published, async (environment) => {
  const expected = await readParquet(path.join(published.files, `hed-outbreaks-${RELEASE}.parquet`))
  const settings = { ...environment, OUTBREAKS_CACHE: published.files, FRAMES_RELEASE: String(RELEASE) }
  const found: Column[] = []
  for (const command of [
    [python, path.join(clients, 'python/programs/frames.py')],
    ['Rscript', path.join(clients, 'r/programs/frames.R')],
  ])
    for await (const line of runProgram(command, settings)) found.push(JSON.parse(line) as Column)
  reportFindings('frames', compareColumns(expected, found, FRAMES))
})
