// Goals 14 and 15: that no question costs much more than a page of everything, whatever it asks for and whatever it finds.
import { openConnection } from '../client.ts'
import { type Findings, figure, result } from '../goal.ts'
import { percentile } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'

const QUESTIONS = 500
/** No record has this country: the counts of the release say so. */
const EMPTY = 'country_code=AQ'

type Facets = Record<string, { values: { value: string | boolean }[] }>

export async function measureFilters({ cold, pages }: Stage): Promise<Findings> {
  const connection = openConnection(cold.address, { keep: true })
  const time = async (place: string) => {
    const began = performance.now()
    await connection.ask(cold.get(place, 'gzip'))
    return performance.now() - began
  }
  const facets = await readValues((place) => connection.ask(cold.get(place, 'identity')))
  const times: { everything: number[]; question: number[]; empty: number[] } = {
    everything: [],
    question: [],
    empty: [],
  }
  for (let i = 0; i < QUESTIONS; i++) {
    times.everything.push(await time(pages[Math.floor(Math.random() * pages.length)] ?? ''))
    times.question.push(await time(`${PAGES_PATH}&${makeQuestion(facets)}`))
    times.empty.push(await time(`${PAGES_PATH}&${EMPTY}`))
  }
  connection.close()
  const at = (name: keyof typeof times, percent: number) =>
    percentile(
      times[name].toSorted((a, b) => a - b),
      percent,
    )
  return {
    results: [
      result('14', `p99 of ${QUESTIONS} random questions / of a page of everything`, { atMost: 4 }, [
        at('question', 99) / at('everything', 99),
      ]),
      result('14b', 'the same, p50', null, [at('question', 50) / at('everything', 50)]),
      result('15', 'p50 of a question that can find nothing / of a page of everything', { atMost: 1 }, [
        at('empty', 50) / at('everything', 50),
      ]),
    ],
    figures: (['everything', 'question', 'empty'] as const).flatMap((name) =>
      [50, 99].map((percent) => figure(`service: p${percent} of ${name}`, 'ms', [at(name, percent)])),
    ),
    skipped: [],
  }
}

async function readValues(ask: (place: string) => Promise<Buffer>): Promise<Map<string, string[]>> {
  const answer = JSON.parse((await ask('/v2/hed-outbreaks/facets?num=1000')).toString()) as Facets
  return new Map(Object.entries(answer).map(([field, { values }]) => [field, values.map(({ value }) => String(value))]))
}

const any = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)]

/** One to four fields with one to three of their values, and now and then days: many of them fit no record. */
function makeQuestion(facets: ReadonlyMap<string, readonly string[]>): string {
  const query = new URLSearchParams()
  for (let fields = 1 + Math.floor(Math.random() * 4); fields > 0; fields--) {
    const [field, values] = any([...facets].filter(([name]) => !query.has(name))) ?? ['', []]
    const wanted = new Set(Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => any(values) ?? ''))
    for (const value of wanted) if (value !== '') query.append(field, value)
  }
  if (Math.random() < 0.3) query.append('date_from', `${2000 + Math.floor(Math.random() * 26)}-06-01`)
  return query.toString()
}
