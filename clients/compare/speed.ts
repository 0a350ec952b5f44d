// node clients/compare/speed.ts [--records 1000000] [--rounds 3] [--client R]: how long the Python and R packages take to read a
// whole release into a data frame, side by side with reading its file from disk. Prints medians with the range of the rounds.
import path from 'node:path'
import { parseArgs } from 'node:util'
import { publishSynthetic, python, runProgram, withService } from '../service.ts'

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    client: { type: 'string', multiple: true, default: ['Python', 'R'] },
  },
})
const clients = path.resolve(import.meta.dirname, '..')
const programs: Record<string, string[]> = {
  Python: [python, path.join(clients, 'python/programs/speed.py')],
  R: ['Rscript', path.join(clients, 'r/programs/speed.R')],
}

/** A line that a program prints. The CPU time is that of the client. */
interface Measurement {
  readonly what: string
  readonly seconds: number
  readonly cpu: number
}

function format(numbers: readonly number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b).map((one) => one.toFixed(2))
  return `${sorted[Math.floor(sorted.length / 2)]} [${sorted[0]}..${sorted.at(-1)}]`
}

console.log(`publishing ${values.records} records`)
const published = await publishSynthetic({ records: Number(values.records), releases: 1 })
await withService(published, async (environment) => {
  const settings = { ...environment, SPEED_FILES: published.files, SPEED_ROUNDS: values.rounds }
  for (const language of values.client) {
    const found: Measurement[] = []
    for await (const line of runProgram(programs[language] ?? [], settings)) {
      console.log(line)
      found.push(JSON.parse(line) as Measurement)
    }
    console.log(`${language}: seconds, and CPU seconds of the client; median [least..most]`)
    for (const [what, rounds = []] of Object.entries(Object.groupBy(found, (one) => one.what))) {
      const seconds = format(rounds.map((one) => one.seconds))
      console.log(`  ${what.padEnd(52)} ${seconds.padEnd(24)} ${format(rounds.map((one) => one.cpu))}`)
    }
  }
})
