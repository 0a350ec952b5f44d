// Reads a question and a condition as people write them. Pure.
import { Type } from 'typebox'
import { type FeedQuery, type FeedQuestion, parseFeedQuestion } from '../../api/feeds/feed-question.ts'
import { feedQuery } from '../../api/requests/parameters.ts'
import { fitWords } from '../../api/requests/usual-words.ts'
import type { SeriesDataset } from '../../methods/record-series.ts'
import { compileQuery } from '../../platform/http/query-string.ts'
import { Problem } from '../../platform/problem.ts'
import { type Condition, conditionPattern, parseCondition } from './condition.ts'

export interface Watched {
  readonly question: FeedQuestion
  readonly condition: Condition
}

/** Throws a Problem if the question or the condition is not valid. */
export type ParseWatch = (question: string, condition: string) => Watched

/** Of a question in its one form, and of a name. The table has the same limits. */
const MAX_QUESTION_LENGTH = 8000
const MAX_NAME_LENGTH = 200

/** For a watch without a name: its question in words. */
export const nameWatch = (dataset: SeriesDataset, { question }: Pick<Watched, 'question'>): string =>
  (question.title ?? dataset.title).slice(0, MAX_NAME_LENGTH).toWellFormed()

export function createWatchParser(dataset: SeriesDataset): ParseWatch {
  const { format: _format, archive: _archive, when: _when, ...parameters } = feedQuery(dataset).properties
  const parseQuery = compileQuery(Type.Object(parameters))
  const pattern = new RegExp(conditionPattern(dataset))
  return (text, condition) => {
    if (!pattern.test(condition))
      throw new Problem(
        'invalid_parameter',
        `when must be changes, changes:${dataset.series.counts[0]}:10, crosses:${dataset.series.counts[0]}:1000, appears or corrects.`,
        { parameter: 'when' },
      )
    const raw: Record<string, string | string[]> = {}
    for (const [name, value] of new URLSearchParams(text)) {
      const before = raw[name]
      raw[name] = before === undefined ? value : [before, value].flat()
    }
    fitWords(dataset, raw)
    const query = parseQuery(raw) as FeedQuery
    const parsed = parseCondition(condition)
    const when = parsed.threshold === null ? {} : { when: condition }
    const question = parseFeedQuestion(dataset, { ...query, ...when })
    if (question.canonical.length > MAX_QUESTION_LENGTH)
      throw new Problem('invalid_parameter', `question has more than ${MAX_QUESTION_LENGTH} characters.`, {
        parameter: 'question',
      })
    return { question, condition: parsed }
  }
}
