// The age of what a server says, from what it says of itself. Times in milliseconds, positions in bytes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFreshness, type ServerState } from '../../../src/platform/postgres/replica-freshness.ts'

const primary: ServerState = { primary: true, started: 'p', received: null, replayed: null }
const replica = (received: number | null, replayed: number | null, started = 'r'): ServerState => ({
  primary: false,
  started,
  received: received === null ? null : String(received),
  replayed: replayed === null ? null : String(replayed),
})

/** What each round is judged as, in order. */
function judgeAll(...rounds: [at: number, state: ServerState][]): (number | null)[] {
  const { judge } = createFreshness()
  return rounds.map(([at, state]) => judge(at, state))
}

const cases: [title: string, rounds: [number, ServerState][], fresh: (number | null)[]][] = [
  [
    'a primary is fresh at once',
    [
      [0, primary],
      [500, primary],
    ],
    [0, 500],
  ],
  [
    'an idle replica is fresh as of each round',
    [
      [0, replica(9, 9)],
      [500, replica(9, 9)],
    ],
    [0, 500],
  ],
  [
    'a replica under load is fresh as of the round whose WAL it has replayed',
    [
      [0, replica(10, 5)],
      [500, replica(20, 12)],
      [1000, replica(30, 25)],
      [1500, replica(40, 30)],
    ],
    [null, 0, 500, 1000],
  ],
  [
    'a paused replica stays as fresh as it was',
    [
      [0, replica(10, 10)],
      [500, replica(20, 10)],
      [9000, replica(90, 10)],
      [9500, replica(90, 90)],
    ],
    [0, 0, 0, 9500],
  ],
  [
    'a replica without a primary stays as fresh as it was, and settles when it is connected again',
    [
      [0, replica(9, 9)],
      [500, replica(null, 9)],
      [1000, replica(9, 9)],
      [2400, replica(9, 9)],
      [2500, replica(9, 9)],
    ],
    [0, 0, 0, 0, 2500],
  ],
  [
    'a replica that only replays an archive is never fresh',
    [
      [0, replica(null, 9)],
      [500, replica(null, 99)],
    ],
    [null, null],
  ],
  [
    'of two replicas each is judged by itself',
    [
      [0, replica(10, 10)],
      [500, replica(null, 50, 'other')],
      [1000, replica(20, 20)],
      [1500, replica(90, 20, 'third')],
    ],
    [0, null, 1000, null],
  ],
  ['a position before the first byte is none', [[0, replica(0, null)]], [null]],
  [
    'moments older than ten minutes are forgotten',
    [
      [0, replica(10, 5)],
      [600_001, replica(20, 10)],
    ],
    [null, null],
  ],
]

for (const [title, rounds, fresh] of cases) test(title, () => assert.deepEqual(judgeAll(...rounds), fresh))
