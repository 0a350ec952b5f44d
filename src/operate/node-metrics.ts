// What Prometheus reads about the state of a node: whether it is ready, how old its data is, what it serves.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ColumnIndex } from '../columns/column-index.ts'
import type { Quota } from '../platform/http/quota.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { Watcher } from '../platform/postgres/watcher.ts'
import { version } from '../platform/version.ts'
import type { PublishedReleases } from '../storage/published-releases.ts'

interface NodeState {
  readonly findReasons: () => readonly string[]
  readonly watcher: Watcher
  readonly database: Database
  readonly published: () => PublishedReleases
  readonly indexes: ReadonlyMap<string, ColumnIndex>
  /** Null if there is no quota. */
  readonly quota: Quota | null
  readonly unreadableKeys: () => number
}

/** A row for each value: its labels and the value. */
type Sample = readonly [labels: Record<string, string>, value: number]

export function registerNodeMetrics(registry: Registry, node: NodeState): void {
  function gauge(name: string, help: string, labelNames: string[], read: () => Iterable<Sample>): void {
    const created = new Gauge({
      name: `outbreaks_${name}`,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset()
        for (const [labels, value] of read()) this.set(labels, value)
      },
    })
    registry.registerMetric(created)
  }
  const single = (name: string, help: string, read: () => number) => gauge(name, help, [], () => [[{}, read()]])
  /** The latest release of each dataset. */
  function* latest() {
    for (const [dataset, releases] of node.published()) {
      const release = releases.at(-1)
      if (release !== undefined) yield { dataset, release }
    }
  }

  gauge('build_info', 'The version of the service and of Node.', ['version', 'node'], () => [
    [{ version, node: process.version }, 1],
  ])
  single('ready', '1 if the node is ready, otherwise 0.', () => (node.findReasons().length === 0 ? 1 : 0))
  gauge('not_ready_reason', 'The reasons why the node is not ready.', ['reason'], () =>
    node.findReasons().map((reason) => [{ reason }, 1]),
  )
  single('staleness_seconds', 'Age of what the node knows, with the lag of its replica.', () =>
    toSeconds(node.watcher.stalenessMs()),
  )
  single('database_silence_seconds', 'Time since the database last responded to the node.', () =>
    toSeconds(node.watcher.msSinceResponse()),
  )
  single('clock_difference_seconds', 'How far the clocks of this machine and of the database server differ.', () =>
    toSeconds(node.watcher.clockDifferenceMs()),
  )
  gauge('database_connections', 'Connections of the pool, and requests that wait for one.', ['state'], () =>
    Object.entries(node.database.connections()).map(([state, count]) => [{ state }, count]),
  )
  if (node.quota !== null)
    single('quota_shared', '1 if the nodes count requests together, 0 if this node counts alone.', () =>
      node.quota?.isShared() ? 1 : 0,
    )
  single('unreadable_keys', 'Signing keys that the node cannot read and does not use.', node.unreadableKeys)
  gauge('release_number', 'The latest release that the node serves.', ['dataset'], () =>
    latest().map(({ dataset, release }): Sample => [{ dataset }, release.number]),
  )
  gauge('release_published_timestamp_seconds', 'When the latest release was published.', ['dataset'], () =>
    latest().map(({ dataset, release }): Sample => [{ dataset }, release.publishedAt.getTime() / 1000]),
  )
  gauge('release_records', 'The records of the latest release.', ['dataset'], () =>
    latest().map(({ dataset, release }): Sample => [{ dataset }, release.records]),
  )
  gauge('release_changes', 'What the latest release changed, and rejected rows.', ['dataset', 'kind'], () =>
    latest().flatMap(({ dataset, release: { added, corrected, withdrawn, rejected } }) =>
      Object.entries({ added, corrected, withdrawn, rejected }).map(
        ([kind, count]): Sample => [{ dataset, kind }, count],
      ),
    ),
  )
  gauge('index_release', 'The latest release in the column index; 0 while it is built.', ['dataset'], () =>
    [...node.indexes].map(([dataset, index]) => [{ dataset }, index.status().release]),
  )
  registry.registerMetric(
    new Counter({
      name: 'outbreaks_index_failures_total',
      help: 'Failed attempts to build or extend the column index, and damaged files of it.',
      labelNames: ['dataset'],
      registers: [],
      collect() {
        this.reset()
        for (const [dataset, index] of node.indexes) this.inc({ dataset }, index.status().failures)
      },
    }),
  )
}

/** Infinite before the first response of the database, which Prometheus accepts. */
const toSeconds = (ms: number): number => ms / 1000
