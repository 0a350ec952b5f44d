// Every pair of operator commands, one after the other and both at once, while clients walk by cursor, by date, by offset
// and with a filter. A walk reads one complete release or gets the error that it was pruned.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HOME } from '../fixtures/routes.ts'
import {
  apply,
  type Command,
  type CommandHarness,
  type Contents,
  isEqual,
  latestOf,
  type Model,
  ofSource,
  openHarness,
  walkPages,
} from './command-harness.ts'

const KINDS = ['publish', 'change', 'rollback', 'prune', 'export', 'migrate'] as const
type Kind = (typeof KINDS)[number]
const NUM = 25

const keyOf = (number: number) => `k${String(number).padStart(3, '0')}`
const initialContents: Contents = new Map(Array.from({ length: 80 }, (_, i) => [keyOf(i), i]))

/** The next command of an operator, given the model. It withdraws too few records to need a confirmation. */
function plan(kind: Kind, model: Model, round: number): Command {
  const keys = [...latestOf(model).keys()].sort()
  const pick = (index: number) => keys[(index + round * 7) % keys.length] as string
  switch (kind) {
    case 'publish': {
      const contents = new Map(latestOf(model))
      contents.delete(pick(0))
      contents.set(pick(5), 1000 + round)
      contents.set(keyOf(100 + round * 2), round)
      return { kind, contents }
    }
    case 'change':
      return {
        ...{ kind, base: model.releases.length, withdrawn: [pick(2)] },
        changed: new Map([
          [pick(9), 2000 + round],
          [keyOf(101 + round * 2), round],
        ]),
      }
    case 'rollback':
      return { kind, to: model.oldestKept }
    case 'prune':
      return { kind, before: model.releases.length }
    case 'export':
      return { kind, release: model.releases.length }
    case 'migrate':
      return { kind }
  }
}

/** A store with three releases. */
async function openStore(): Promise<{ harness: CommandHarness; model: Model }> {
  const harness = await openHarness()
  let model: Model = { releases: [], oldestKept: 1 }
  for (const command of [{ kind: 'publish', contents: initialContents } as const, null, null]) {
    const given: Command = command ?? plan('change', model, 40 + model.releases.length)
    assert.ok(await harness.run(given))
    model = apply(model, given) as Model
  }
  await harness.refresh()
  return { harness, model }
}

const today = () => new Date().toISOString().slice(0, 10)
const byCursor = ({ cursor }: { cursor: string | null }) => (cursor === null ? null : { page: cursor })

/** Starts walks over the latest release. They read the first page now, one more page after each `advance`, then the rest. */
function startWalks(harness: CommandHarness, { releases }: Model, stages: number) {
  const release = releases.length
  const expectedAll = latestOf({ releases, oldestKept: 1 })
  const v2 = `${HOME}/outbreaks`
  const gates = Array.from({ length: stages }, () => Promise.withResolvers<void>())
  const pace = async (pagesRead: number) => {
    if (pagesRead > 0) await gates[Math.min(pagesRead, stages) - 1]?.promise
  }
  const byOffset = ({ data, read }: { data: readonly unknown[]; read: number }) =>
    data.length < NUM ? null : { offset: read }
  const walks: [string, Promise<Contents | 'pruned'>, Contents][] = [
    ['by cursor', walkPages(harness, v2, { num: NUM, release }, byCursor, pace), expectedAll],
    ['by date', walkPages(harness, v2, { num: NUM, release: today() }, byCursor, pace), expectedAll],
    [
      'by offset',
      walkPages(harness, '/v1/hed-outbreaks/outbreaks', { num: NUM, release }, byOffset, pace),
      expectedAll,
    ],
    [
      'with a filter',
      walkPages(harness, v2, { num: NUM, release, source_name: 'Ministry' }, byCursor, pace),
      ofSource(expectedAll, 'Ministry'),
    ],
  ]
  // A walk that fails before it is awaited is reported when it is awaited.
  for (const [, walk] of walks) walk.catch(() => {})
  let stage = 0
  return {
    advance: () => gates[stage++]?.resolve(),
    async finish(mayBePruned: boolean) {
      for (const [name, walk, expected] of walks) {
        const read = await walk
        if (read === 'pruned') assert.ok(mayBePruned, `the walk ${name} got the error that its release is pruned`)
        else assert.ok(isEqual(read, expected), `the walk ${name} did not read exactly its release`)
      }
    },
  }
}

describe('one after the other', () => {
  for (const first of KINDS) {
    test(`${first}, then each command`, async (t) => {
      let { harness, model } = await openStore()
      for (const [round, second] of KINDS.entries())
        await t.test(`${first}, then ${second}`, async () => {
          const walked = model
          const walks = startWalks(harness, walked, 2)
          for (const kind of [first, second]) {
            const command = plan(kind, model, round)
            const expected = apply(model, command)
            assert.equal(await harness.run(command), expected !== null, `${kind} of ${first} and ${second}`)
            model = expected ?? model
            await harness.assertModel(model)
            walks.advance()
          }
          await walks.finish(model.oldestKept > walked.releases.length)
        })
    })
  }
})

/** Every model that the two commands may lead to: in either order, and with either rejected because the other was running. */
function outcomes(model: Model, commands: readonly [Command, Command]): { ran: readonly boolean[]; model: Model }[] {
  const run = (order: readonly number[]) => {
    let now = model
    const ran = [false, false]
    for (const index of order) {
      const next = apply(now, commands[index] as Command)
      if (next !== null) {
        now = next
        ran[index] = true
      }
    }
    return { ran, model: now }
  }
  return [run([0, 1]), run([1, 0]), run([0]), run([1])]
}

/** The model that describes the store. Throws if none does. */
async function findModel(harness: CommandHarness, models: readonly Model[]): Promise<Model> {
  const errors: unknown[] = []
  for (const model of models) {
    try {
      await harness.assertModel(model)
      return model
    } catch (error) {
      errors.push(error)
    }
  }
  throw errors[0]
}

describe('both at once', () => {
  for (const [i, first] of KINDS.entries()) {
    test(`${first} during each command`, async (t) => {
      let { harness, model } = await openStore()
      for (const [round, second] of KINDS.slice(i).entries())
        await t.test(`${first} during ${second}`, async () => {
          const commands: [Command, Command] = [plan(first, model, round), plan(second, model, round + 3)]
          const walks = startWalks(harness, model, 2)
          walks.advance()
          const ran = await Promise.all(commands.map((command) => harness.run(command)))
          const possible = outcomes(model, commands).filter((outcome) => outcome.ran.join() === ran.join())
          assert.ok(possible.length > 0, `${first} during ${second}: ${ran.join()}`)
          const before = model
          model = await findModel(
            harness,
            possible.map((outcome) => outcome.model),
          )
          walks.advance()
          await walks.finish(model.oldestKept > before.releases.length)
          t.diagnostic(`${first} ${ran[0] ? 'done' : 'rejected'}, ${second} ${ran[1] ? 'done' : 'rejected'}`)
        })
    })
  }
})
