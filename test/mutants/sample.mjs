// A plugin of StrykerJS: takes one in SAMPLE_ONE_IN top-level declarations of a file, by a digest of its name. The rule is the
// same for every version of the code, so that two versions can be compared.
import { hash } from 'node:crypto'

const oneIn = Number(process.env['SAMPLE_ONE_IN'] ?? 1)

const isSampled = (name) => Number.parseInt(hash('sha256', name).slice(0, 8), 16) % oneIn === 0

function readName(path) {
  const declaration = path.node.declaration ?? path.node
  return declaration.id?.name ?? declaration.declarations?.[0]?.id?.name
}

const sample = {
  shouldIgnore(path) {
    if (!path.parentPath?.isProgram()) return undefined
    const name = readName(path)
    return name === undefined || isSampled(name) ? undefined : 'not in the sample'
  },
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'sample', value: sample }]
