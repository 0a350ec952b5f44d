// The TypeScript types of parameters and answers, rendered from an OpenAPI document.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { renderAnswers, renderParameters } from '../../../dev/client-answers.ts'

const counts = {
  type: 'object',
  required: ['cases'],
  properties: { cases: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
}
const document = {
  paths: {
    '/sums': {
      get: {
        operationId: 'getSums',
        parameters: [
          {
            name: 'event',
            in: 'query',
            required: true,
            description: 'The event.',
            schema: { type: 'array', items: { type: 'string' } },
          },
          { name: 'release', in: 'query', schema: { type: 'string' } },
          { name: 'sex', in: 'query', schema: { type: 'array', items: { enum: ['female', 'male'] } } },
          { name: 'page', in: 'query', schema: { type: 'string' } },
          { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
        ],
        responses: {
          200: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['new', 'cumulative'],
                  properties: {
                    new: { ...counts, description: 'Within the period.' },
                    cumulative: counts,
                    kinds: { type: 'array', items: { enum: ['a', 'b'] } },
                    record: { $ref: '#/components/schemas/OutbreakRecord' },
                    others: { type: 'object', additionalProperties: { type: 'number' } },
                  },
                },
              },
            },
          },
        },
      },
    },
    '/ignored': { get: { operationId: 'getSomethingElse', responses: {} } },
  },
}

test('an answer has its members, and an object that occurs twice has a type of its own', () => {
  assert.equal(
    renderAnswers(document),
    `// What the service answers, as types.
// Generated from docs/openapi.json by \`npm run generate\`; do not edit by hand.
import type { OutbreakRecord } from './record.ts'

export interface Counts {
  cases: number | null
}

export interface Sums {
  /** Within the period. */
  new: Counts
  cumulative: Counts
  kinds?: ('a' | 'b')[]
  record?: OutbreakRecord
  others?: Record<string, number>
}
`,
  )
})

test('parameters are optional unless required, repeated ones take lists, and the cursor belongs to the walk', () => {
  assert.equal(
    renderParameters(document),
    `// The parameters of the requests, as types.
// Generated from docs/openapi.json by \`npm run generate\`; do not edit by hand.

/** Every parameter of the interface. */
export interface AllParameters {
  release?: number | string | undefined
  sex?: 'female' | 'male' | readonly ('female' | 'male')[] | undefined
}

export type SumsParameters = Pick<AllParameters, 'release' | 'sex'> & {
  /** The event. */
  event: string | readonly string[]
}
`,
  )
})
