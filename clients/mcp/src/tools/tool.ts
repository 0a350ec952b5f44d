// What a tool is: its declaration, and how it answers.
import type * as z from 'zod'
import type { Access } from '../access.ts'
import type { Draft } from '../envelope.ts'

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodObject
  readonly answer: (given: Readonly<Record<string, unknown>>, access: Access) => Promise<Draft>
}

/** A tool whose arguments have the types of its schema. */
export const defineTool = <Schema extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'answer'> & {
    readonly input: Schema
    readonly answer: (given: z.output<Schema>, access: Access) => Promise<Draft>
  },
): Tool => tool as unknown as Tool
