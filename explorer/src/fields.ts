// The fields of a record as the service describes them.
import { useAnswer } from './ask.ts'

export interface Field {
  readonly name: string
  readonly description: string
}

async function readFields(signal: AbortSignal): Promise<Field[]> {
  const response = await fetch('/v2/hed-outbreaks/schema', { signal })
  if (!response.ok) throw new Error(`the service answered ${response.status}`)
  const schema = (await response.json()) as { properties?: Record<string, { description?: string }> }
  return Object.entries(schema.properties ?? {}).map(([name, { description = '' }]) => ({ name, description }))
}

export const useFields = () => useAnswer('schema', readFields)
