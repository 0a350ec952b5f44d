// What changed between two releases, and why.
import { type Change, Outbreaks } from '@outbreak-data/client'

const outbreaks = Outbreaks.fromEnv()
const changes = await outbreaks.changes({ from: 2, to: 3, changed_fields: true }).toArray()
const counts = Object.groupBy(changes, ({ change, reason }) => `${change} ${reason}`)
for (const [kind, group] of Object.entries(counts)) console.log(kind, group?.length)

const size = ({ before, after }: Change) => Math.abs((after?.cases ?? 0) - (before?.cases ?? 0))
const [largest] = changes.filter(({ change }) => change === 'corrected').toSorted((a, b) => size(b) - size(a))
if (largest?.after) {
  const { id, country, date_high: day } = largest.after
  console.log(`\nthe largest correction: ${country} up to ${day}, fields ${largest.fields?.join(', ')}`)
  for await (const { from_release: from, to_release: to, record } of outbreaks.history(id))
    console.log(`  release ${from} and ${to === null ? 'later' : `before ${to}`}: ${record.cases} cases`)
}
