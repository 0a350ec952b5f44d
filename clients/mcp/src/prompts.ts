// Two prompts that a person starts: a summary of a situation, and the check of a claim.
import type { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

export function registerPrompts(server: McpServer): void {
  const register = (
    name: string,
    title: string,
    description: string,
    argument: string,
    describe: (value: string) => string,
  ) =>
    server.registerPrompt(
      name,
      { title, description, argsSchema: z.object({ [argument]: z.string().max(500) }) },
      (given) => ({
        messages: [
          { role: 'user' as const, content: { type: 'text' as const, text: describe(String(given[argument])) } },
        ],
      }),
    )
  register(
    'situation_summary',
    'Summarise an outbreak',
    'The number to quote, the course, the last revision and what is unknown, each with its citation.',
    'event',
    (event) =>
      `Summarise the outbreak "${event}". Find it with search. Use describe_event for the number to quote, curve by month for its course and what_changed for the last revision. Give each number with its release, its way of counting and its citation. Say what is unknown, and what the warnings say. If sources contradict each other, give all their numbers and choose none.`,
  )
  register(
    'check_claim',
    'Check a claim about an outbreak',
    'Whether a number agrees with the published ones, differs from them or cannot be compared.',
    'claim',
    (claim) =>
      `Check this claim: "${claim}". Find the event and the place with search, and ask count or curve for the same days and status. Say whether the numbers agree, differ or cannot be compared, with the release and the citation. If the claim has an older day, ask for the release of that day too. Do not add up numbers yourself.`,
  )
}
