// The age of the data of a server, from its replication state. Times in milliseconds, WAL positions in bytes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFreshnessTracker, type ServerState } from '../../../src/platform/postgres/replica-freshness.ts'

const primary: ServerState = { primary: true, started: 'p', received: null, replayed: null }
const replica = (received: number | null, replayed: number | null, started = 'r'): ServerState => ({
  primary: false,
  started,
  received: received === null ? null : String(received),
  replayed: replayed === null ? null : String(replayed),
})

/** The result of each round, in order. */
function findAllAsOf(...rounds: [at: number, state: ServerState][]): (number | null)[] {
  const { findAsOf } = createFreshnessTracker()
  return rounds.map(([at, state]) => findAsOf(at, state))
}

const cases: [title: string, rounds: [number, ServerState][], asOf: (number | null)[]][] = [
  [
    'a primary is current in each round',
    [
      [0, primary],
      [500, primary],
    ],
    [0, 500],
  ],
  [
    'an idle replica is current in each round',
    [
      [0, replica(9, 9)],
      [500, replica(9, 9)],
    ],
    [0, 500],
  ],
  [
    'a replica under load is as of the round whose WAL it has replayed',
    [
      [0, replica(10, 5)],
      [500, replica(20, 12)],
      [1000, replica(30, 25)],
      [1500, replica(40, 30)],
    ],
    [null, 0, 500, 1000],
  ],
  [
    'a paused replica stays as of its last replayed round',
    [
      [0, replica(10, 10)],
      [500, replica(20, 10)],
      [9000, replica(90, 10)],
      [9500, replica(90, 90)],
    ],
    [0, 0, 0, 9500],
  ],
  [
    'a disconnected replica stays as of its last replayed round, until two seconds after it is connected again',
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
    'a replica that only replays an archive has no known time',
    [
      [0, replica(null, 9)],
      [500, replica(null, 99)],
    ],
    [null, null],
  ],
  [
    'each of several replicas has its own samples',
    [
      [0, replica(10, 10)],
      [500, replica(null, 50, 'other')],
      [1000, replica(20, 20)],
      [1500, replica(90, 20, 'third')],
    ],
    [0, null, 1000, null],
  ],
  ['a replica that has replayed nothing has no known time', [[0, replica(0, null)]], [null]],
  [
    'samples older than ten minutes are dropped',
    [
      [0, replica(10, 5)],
      [600_001, replica(20, 10)],
    ],
    [null, null],
  ],
]

for (const [title, rounds, asOf] of cases) test(title, () => assert.deepEqual(findAllAsOf(...rounds), asOf))
