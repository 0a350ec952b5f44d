// Long random sequences of operator commands, compared with a model of what each release contains.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../seed.ts'
import {
  apply,
  type Command,
  type CommandHarness,
  type Contents,
  latestOf,
  type Model,
  openHarness,
} from './command-harness.ts'

const RUNS = 6
const COMMANDS = 14
const keys = Array.from({ length: 30 }, (_, i) => `k${String(i).padStart(3, '0')}`)
const contents = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...keys), fc.nat(9)), { minLength: 1, maxLength: 30, selector: ([key]) => key })
  .map((entries): Contents => new Map(entries))
/** A random number from which a command chooses one of the existing releases or records. */
const choice = fc.nat(20)

/** A command that depends on the releases that exist when it runs. */
type Draft = (model: Model) => Command | null

const drafts = {
  publish: contents.map(
    (drawn): Draft =>
      () => ({ kind: 'publish', contents: drawn }),
  ),
  change: fc.tuple(contents, choice, choice).map(
    ([drawn, remainder, amount]): Draft =>
      (model) => {
        const current = [...latestOf(model).keys()]
        const changed = new Map([...drawn].slice(0, 1 + (amount % 4)))
        const withdrawn = current.filter((key, i) => i % 7 === remainder % 7 && !changed.has(key))
        // A release without records is rejected; the model does not know that.
        if (withdrawn.length === current.length) return null
        return { kind: 'change', base: model.releases.length, changed, withdrawn }
      },
  ),
  rollback: choice.map(
    (drawn): Draft =>
      ({ releases }) => ({ kind: 'rollback', to: 1 + (drawn % (releases.length + 1)) }),
  ),
  prune: choice.map(
    (drawn): Draft =>
      ({ releases }) => ({ kind: 'prune', before: 1 + (drawn % (releases.length + 1)) }),
  ),
  export: choice.map(
    (drawn): Draft =>
      ({ releases }) => ({ kind: 'export', release: 1 + (drawn % (releases.length + 1)) }),
  ),
  migrate: fc.constant<Draft>(() => ({ kind: 'migrate' })),
}

class Step implements fc.AsyncCommand<{ now: Model }, CommandHarness> {
  readonly #name: string
  readonly #draft: Draft

  constructor(name: string, draft: Draft) {
    this.#name = name
    this.#draft = draft
  }

  check({ now }: { now: Model }): boolean {
    return this.#draft(now) !== null && (now.releases.length > 0 || this.#name === 'publish')
  }

  async run(model: { now: Model }, harness: CommandHarness): Promise<void> {
    const command = this.#draft(model.now) as Command
    const expected = apply(model.now, command)
    assert.equal(await harness.run(command), expected !== null, this.toString())
    model.now = expected ?? model.now
    await harness.assertModel(model.now)
  }

  toString(): string {
    return this.#name
  }
}

test('after any sequence of commands every kept release reads as it was published', async () => {
  const steps = Object.entries(drafts).map(([name, draft]) => draft.map((drawn) => new Step(name, drawn)))
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: COMMANDS, size: 'max' }), async (commands) => {
      const harness = await openHarness()
      await fc.asyncModelRun(() => ({ model: { now: { releases: [], oldestKept: 1 } }, real: harness }), commands)
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
