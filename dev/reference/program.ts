// Pages about the program from what it declares: the commands of outbreakctl, the environment variables and the metrics of a node.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { Command } from 'commander'
import { type MetricObject, Registry, register } from 'prom-client'
import { registerCredentialCommands } from '../../src/auth/provisioning/commands.ts'
import { catalogue } from '../../src/datasets/catalogue.ts'
import { registerNotifyCommands } from '../../src/notify/commands.ts'
import { registerOperateCommands } from '../../src/operate/commands.ts'
import { registerNodeMetrics } from '../../src/operate/node-metrics.ts'
import { registerReleaseCommands } from '../../src/publish/commands.ts'
import { SIGN_IN_VARIABLES, VARIABLES, type Variable } from '../../src/variables.ts'
import { GENERATED } from './operations.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|').replace(/\s+/g, ' ').trim()

function renderCommand(command: Command, parents: string): string[] {
  const name = `${parents} ${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap((each) => renderCommand(each, name))
  const given = command.registeredArguments.map((argument) =>
    argument.required ? ` ${argument.name().toUpperCase()}` : ` [${argument.name().toUpperCase()}]`,
  )
  const rows = command.options.map(({ flags, description, defaultValue, mandatory }) => {
    const usual = defaultValue === undefined ? '' : `; default \`${JSON.stringify(defaultValue)}\``
    return `| \`${flags}\` | ${cell(description)}${mandatory ? '; required' : ''}${usual} |`
  })
  return [
    ...[`## ${name.trim()}`, '', `\`${name.trim()}${given.join('')}\``, '', `${command.description()}.`, ''],
    ...(rows.length === 0 ? [] : ['| option | meaning |', '|---|---|', ...rows, '']),
  ]
}

/** The commands are registered without what they work with: nothing runs here. */
export function renderOutbreakctl(): string {
  const program = new Command('outbreakctl')
  registerCredentialCommands(program, { datasets: catalogue } as never)
  registerOperateCommands(program, {} as never)
  registerReleaseCommands(program, { datasets: catalogue } as never)
  registerNotifyCommands(program, { datasets: catalogue } as never)
  const cli = path.resolve(import.meta.dirname, '../../src/cli.ts')
  const help = execFileSync(process.execPath, [cli, '--help'], {
    encoding: 'utf8',
    env: { ...process.env, COLUMNS: '120' },
  })
  return [
    ...['# outbreakctl', '', GENERATED, ''],
    "The operator's command line. [Operating](../operating/README.md) says when to use which command. Results are JSON on standard output, or a table on a terminal.",
    ...['', '```', help.trimEnd(), '```', ''],
    ...program.commands.flatMap((command) => renderCommand(command, 'outbreakctl')),
  ].join('\n')
}

/** The module that counts responses registers its metrics when it is loaded, with the service. */
export function renderMetrics(): string {
  const registry = new Registry()
  registerNodeMetrics(registry, {} as never)
  const metrics = [...register.getMetricsAsArray(), ...registry.getMetricsAsArray()] as (MetricObject & {
    labelNames?: readonly string[]
  })[]
  const rows = metrics
    .filter(({ name }) => name.startsWith('outbreaks_'))
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .map(({ name, help, labelNames = [] }) => {
      const labels = labelNames.map((label) => `\`${label}\``).join(', ')
      return `| \`${name}\` | ${labels} | ${cell(help)} |`
    })
  return [
    ...['# Metrics', '', GENERATED, ''],
    'What a node tells Prometheus at `OUTBREAKS_METRICS_PORT`. [Runbooks](../runbooks.md) say what to do when an alert fires.',
    ...['', '| metric | labels | meaning |', '|---|---|---|', ...rows, ''],
    'The node has the metrics of Node too (`nodejs_…`, `process_…`).',
    '',
  ].join('\n')
}

/** What follows "must be" in the message about a wrong value; empty if every text is valid. */
function findRule({ parse }: Variable<unknown>): string {
  try {
    parse('\0')
    return ''
  } catch (error) {
    return (error as Error).message.replace(/^must be (one of )?/, '')
  }
}

/** Only values that stand for "not set" have no text. */
const describeDefault = (value: unknown): string =>
  value === '' || value === -1 || typeof value === 'object'
    ? 'none'
    : `\`${JSON.stringify(value).replaceAll('"', '')}\``

function renderVariables(variables: Readonly<Record<string, Variable<unknown>>>): string[] {
  const rows = Object.entries(variables).map(([name, variable]) => {
    const { fallback, meaning, see } = variable
    const usual = fallback === undefined ? 'required' : describeDefault(fallback)
    const more = see === undefined ? '' : ` ([more](../${see}))`
    return `| \`${name}\` | ${usual} | ${cell(findRule(variable))} | ${cell(meaning)}${more} |`
  })
  return ['| variable | default | must be | meaning |', '|---|---|---|---|', ...rows, '']
}

export function renderConfiguration(): string {
  return [
    ...['# Configuration', '', GENERATED, ''],
    'The environment variables of a node and of `outbreakctl`. Each can be read from a file: `OUTBREAKS_SECRET_FILE=/run/secrets/secret` instead of `OUTBREAKS_SECRET`. A line end at the end of the file does not count.',
    'A program reports all errors of its configuration together and exits with code 2.',
    ...['', ...renderVariables(VARIABLES)],
    ...['## Sign-in with a provider', ''],
    'If one of these variables is set, those without a default are required ([how to set it up](../operating/openid-connect.md)).',
    ...['', ...renderVariables(SIGN_IN_VARIABLES)],
  ].join('\n')
}
