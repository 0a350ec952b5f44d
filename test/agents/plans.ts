// How a scripted assistant asks the questions of test/questions: a tool and its arguments for each, on a pinned release.
import type { Question } from '../questions/grade.ts'

export interface Plan {
  readonly tool: string
  readonly arguments: Record<string, unknown>
}

const PINNED = 6
/** Most rows that a count can have. */
const ALL_ROWS = 100

/** Null for what no tool answers: how many records there are for each place and period. */
export function planOf({ request: { resource, parameters }, check }: Question): Plan | null {
  const { num, measures, interval, ...rest } = parameters
  const given = {
    release: PINNED,
    ...rest,
    ...(interval === undefined ? {} : { interval: interval === 'week' ? 'isoweek' : interval }),
    ...(measures === undefined ? {} : { measures: [measures].flat() }),
  }
  const { release: _release, ...unpinned } = given
  const releases = { ...unpinned, to: PINNED, ...('to' in parameters ? { to: parameters['to'] } : {}) }
  const [id] = /\d+/.exec(resource) ?? []
  if (id !== undefined) return { tool: 'records', arguments: { id: Number(id), history: resource.endsWith('history') } }
  switch (resource) {
    case 'series':
      return { tool: 'curve', arguments: given }
    case 'sums':
      return { tool: 'count', arguments: { ...given, limit: num ?? ALL_ROWS } }
    case 'events':
      return { tool: 'describe_event', arguments: { ...given, ...(num === undefined ? {} : { limit: num }) } }
    case 'search': {
      const { q, ...others } = given as { q?: unknown; release: unknown }
      return { tool: 'search', arguments: { ...others, words: q } }
    }
    case 'changes':
    case 'vintages':
      return { tool: 'what_changed', arguments: releases }
    case 'releases':
    case 'releases/latest':
      return { tool: 'what_changed', arguments: {} }
    case 'facets':
      return { tool: 'describe_event', arguments: { ...given, values_of: check.field } }
    case 'outbreaks':
      return { tool: 'records', arguments: { ...given, limit: 50 } }
    case 'citation':
      return { tool: 'cite', arguments: given }
    default:
      return null
  }
}
