// The question on the screen as a program: curl, Python, R and TypeScript. Each names the release, so its numbers stay. Pure.
import type { View } from './address.ts'

export type Language = View['code']
export type Parameters = readonly (readonly [name: string, value: string])[]

const NUMBER = /^(?:release|from|to)$/

/** The values of each parameter, in their order. */
const group = (parameters: Parameters): [name: string, values: string[]][] =>
  [...Map.groupBy(parameters, ([name]) => name)].map(([name, pairs]) => [name, pairs.map(([, value]) => value)])

const isNumber = (name: string, value: string) => NUMBER.test(name) && /^\d+$/.test(value)
const isBoolean = (name: string) => name === 'composite'

/** `verb` is the path of the API and the name of the method. */
export function writeSnippets(origin: string, verb: string, parameters: Parameters): Record<Language, string> {
  const query = new URLSearchParams(parameters.map(([name, value]) => [name, value]))
  const values = group(parameters)
  const quote = (text: string) => JSON.stringify(text)
  const python = values.map(([name, all]) => {
    const items = all.map((one) =>
      isNumber(name, one) ? one : isBoolean(name) ? (one === 'true' ? 'True' : 'False') : quote(one),
    )
    return `${name}=${items.length === 1 ? items[0] : `[${items.join(', ')}]`}`
  })
  const r = values.map(([name, all]) => {
    const items = all.map((one) => (isNumber(name, one) ? one : isBoolean(name) ? one.toUpperCase() : quote(one)))
    return `${name} = ${items.length === 1 ? items[0] : `c(${items.join(', ')})`}`
  })
  const typescript = values.map(([name, all]) => {
    const items = all.map((one) =>
      isNumber(name, one) || isBoolean(name) ? one : `'${one.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
    )
    return `${name}: ${items.length === 1 ? items[0] : `[${items.join(', ')}]`}`
  })
  return {
    curl: `curl -H "Authorization: Bearer $TOKEN" ${shellQuote(`${origin}/v2/hed-outbreaks/${verb}?${query}`)}`,
    python: `from outbreaks import Client\n\n${verb} = Client().${verb}(${python.join(', ')}).to_pandas()\nprint(${verb})`,
    r: `library(outbreakdata)\n\n${verb} <- ob_${verb}(ob_client(), ${r.join(', ')})\nprint(${verb})`,
    typescript: `import { Outbreaks } from '@outbreak-data/client'\n\nconst ${verb} = await Outbreaks.fromEnv().${verb}({ ${typescript.join(', ')} })\nconsole.log(${verb})`,
  }
}

const shellQuote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
