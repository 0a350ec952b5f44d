// npm run build:mcp: bundles the MCP server into dist/: main.mjs is the program over stdio, node.mjs is what a node loads for /mcp.
// Both have the TypeScript client in them. The protocol's own package stays a dependency, so that it is listed and updated as one.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { build, stop } from 'esbuild'

const here = import.meta.dirname
const output = path.join(here, 'dist')
const { version } = JSON.parse(readFileSync(path.join(here, 'package.json'), 'utf8')) as { version: string }

/** Returns the directory. Tests that build at the same time never see half a file. */
export async function buildMcp(): Promise<string> {
  const temporary = path.join(output, `.${process.pid}`)
  mkdirSync(temporary, { recursive: true })
  await build({
    entryPoints: [path.join(here, 'src/main.ts'), path.join(here, 'src/node.ts')],
    ...{ outdir: temporary, outExtension: { '.js': '.mjs' } },
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node24', packages: 'external' },
    define: { 'process.env.PACKAGE_VERSION': JSON.stringify(version) },
  })
  // Otherwise its process outlives this one for a moment.
  await stop()
  chmodSync(path.join(temporary, 'main.mjs'), 0o755)
  for (const name of ['main.mjs', 'node.mjs']) renameSync(path.join(temporary, name), path.join(output, name))
  rmSync(temporary, { recursive: true })
  return output
}

if (import.meta.main) console.log(path.relative(process.cwd(), await buildMcp()))
