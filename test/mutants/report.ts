// docs/mutants.md: how many planted faults the tests notice, and why the others survive.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'

export interface Mutant {
  readonly area: string
  readonly source: string
  readonly line: number
  readonly code: string
  readonly mutant: string
  readonly killed: boolean
  /** Why no test notices it; null if it is killed, or if the reason is not known yet. */
  readonly reason: string | null
}

const formatReport = (mutants: readonly Mutant[]): string => {
  const survivors = mutants.filter(({ killed }) => !killed)
  const areas = [...Map.groupBy(mutants, ({ area }) => area)].map(
    ([area, own]) => `| ${area} | ${own.length} | ${own.filter(({ killed }) => killed).length} |`,
  )
  return `# Mutation tests

\`npm run mutants\` plants faults in the modules that guard something, one at a time: it removes a guard, negates a
condition or shifts a boundary, also in SQL. A fault is killed if a test fails. The command writes this page.

**${mutants.length - survivors.length} killed of ${mutants.length}.**

| area | planted | killed |
| ---- | ------- | ------ |
${areas.join('\n')}

## Survivors

${survivors.length === 0 ? 'None.' : survivors.map(formatSurvivor).join('\n')}
`
}

const formatSurvivor = ({ source, code, mutant, reason }: Mutant): string =>
  `- \`${source}\`: \`\` ${code} \`\` becomes \`\` ${mutant} \`\`. ${reason ?? 'Not explained.'}`

export function writeReport(mutants: readonly Mutant[]): void {
  const sorted = mutants.toSorted((a, b) => (`${a.source} ${a.mutant}` < `${b.source} ${b.mutant}` ? -1 : 1))
  const root = path.resolve(import.meta.dirname, '../..')
  const page = path.join(root, 'docs/mutants.md')
  writeFileSync(page, formatReport(sorted))
  execFileSync(path.join(root, 'node_modules/.bin/biome'), ['format', '--write', page], { cwd: root, stdio: 'ignore' })
}
