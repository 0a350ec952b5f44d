// What judging a thousand watches costs after a release that touches a tenth of the events, and what a notice costs a publication.
// WATCHED_RECORDS is the number of records. Watches are measured in processor time. A publication is timed, but no gate depends on it.
// What is over the budget of a release is judged later, so no number is too large here: docs/benchmarks.md has those we measured.
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { type SynthRow, synthesise, writeSynthRelease } from '../../dev/synth/synthesise.ts'
import { hedOutbreaks } from '../../src/datasets/hed-outbreaks.ts'
import { publishRelease } from '../../src/publish/publish.ts'
import { writeChanges, writeNdjson } from '../fixtures/releases.ts'
import { openNotifier } from '../fixtures/watches/open-notifier.ts'

const RECORDS = Number(process.env['WATCHED_RECORDS'] ?? 20_000)
const WATCHES = 1000
/** Publishing does nothing else for watches than to write a notice, however many there are. */
const PUBLISHED = 20_000
const PUBLICATIONS = Number(process.env['PUBLICATIONS'] ?? 3)

test('a thousand watches after a release that touched a tenth of the events', { timeout: 3_600_000 }, async (t) => {
  const notifier = await openNotifier()
  const { operator, superuser, addClient } = notifier
  const directory = path.join(os.tmpdir(), `outbreaks-watched-${process.pid}`)
  after(() => rm(directory, { recursive: true, force: true }))
  const plan = { records: RECORDS, seed: 1, release: 1 }
  await writeSynthRelease(plan, directory)
  await publishRelease(operator, hedOutbreaks, directory)
  const places = new Map<string, SynthRow>()
  for (const row of synthesise(plan)) places.set(String(row['event']), row)
  const events = [...places.keys()].sort()
  const touched = new Set(events.filter((_event, i) => i % 10 === 0))
  const changed: SynthRow[] = []
  for (const row of synthesise(plan))
    if (touched.has(String(row['event'])) && typeof row['cases'] === 'number')
      changed.push({ ...row, cases: row['cases'] + 1 })

  // Seven in ten watch an event, a quarter a pathogen in a country, the others a whole country.
  for (let i = 0; i < WATCHES; i += 1) {
    const client = `client ${Math.trunc(i / 50)}`
    if (i % 50 === 0) await addClient(client)
    const event = events[(i * 7919) % events.length] ?? ''
    const row = places.get(event)
    const country = row?.['country_code']
    const question = new URLSearchParams(
      i % 20 < 14
        ? { event, counts: 'cases' }
        : i % 20 < 19
          ? { pathogen: String(row?.['pathogen']), country_code: String(country), counts: 'cases' }
          : { country_code: String(country), counts: 'cases' },
    )
    question.sort()
    await superuser.query(
      `insert into watch (id, client_id, place, dataset, name, question, condition, judged)
       values (gen_random_uuid(), $1, $2, 'hed-outbreaks', 'w', $3, $4, 1)`,
      [client, 1 + (i % 50), question.toString(), i % 2 === 0 ? 'changes' : 'crosses:cases:1000'],
    )
  }
  await publishRelease(operator, hedOutbreaks, await writeChanges(1, changed, []))
  await notifier.refresh()
  // The index is built once a release, for all requests: it is no cost of watches.
  const [latest] = notifier.releases().slice(-1)
  assert.equal(latest?.number, 2)
  await notifier.index.read(latest, async () => {})
  const before = process.cpuUsage()
  const rounds = await notifier.judgeAll()
  const { user, system } = process.cpuUsage(before)
  const cpuMs = (user + system) / 1000
  const sum = (name: 'pairs' | 'skipped' | 'notices') => rounds.reduce((total, round) => total + round[name], 0)
  t.diagnostic(
    `${RECORDS} records, ${events.length} events, ${changed.length} changed; ${sum('pairs')} watches judged, ${sum('skipped')} skipped, ${sum('notices')} notices, ${(cpuMs / 1000).toFixed(1)} s of CPU in ${rounds.length} transactions`,
  )
  assert.equal(sum('pairs'), WATCHES)
  assert.ok(sum('skipped') >= WATCHES / 2, `only ${sum('skipped')} were skipped`)
})

test('publishing with its notice, and without', { timeout: 600_000 }, async (t) => {
  const { operator, superuser } = await openNotifier()
  const rows = [...synthesise({ records: PUBLISHED, seed: 1, release: 1 })]
  await publishRelease(operator, hedOutbreaks, await writeNdjson(rows))
  const counted = rows.filter((row) => typeof row['cases'] === 'number')
  const [withNotice, without]: [number[], number[]] = [[], []]
  for (let base = 1; base <= 2 * PUBLICATIONS; base += 1) {
    const noticed = base % 2 === 0
    await superuser.query(`alter table release ${noticed ? 'enable' : 'disable'} trigger add_notice_of_publication`)
    const corrected = counted.slice(0, PUBLISHED / 100).map((row) => ({ ...row, cases: Number(row['cases']) + base }))
    const directory = await writeChanges(base, corrected, [])
    const began = performance.now()
    await publishRelease(operator, hedOutbreaks, directory)
    ;(noticed ? withNotice : without).push(performance.now() - began)
  }
  const { rows: notices } = await superuser.query('select seq from notice')
  assert.equal(notices.length, 1 + PUBLICATIONS)
  const describe = (times: number[]) => {
    const sorted = times.toSorted((a, b) => a - b)
    return `${Math.round(sorted[Math.trunc(sorted.length / 2)] ?? 0)} ms (${Math.round(sorted[0] ?? 0)} to ${Math.round(sorted.at(-1) ?? 0)})`
  }
  t.diagnostic(
    `${PUBLISHED} records, 1 % corrected, ${PUBLICATIONS} times each in turns: ${describe(withNotice)} with a notice, ${describe(without)} without`,
  )
})
