// The version of the service, as its package.json has it.
import { readFileSync } from 'node:fs'
import path from 'node:path'

const manifest = path.resolve(import.meta.dirname, '../../package.json')

export const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
