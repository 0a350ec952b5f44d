// Describes the machine of a measurement, without its name and without paths.
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import path from 'node:path'
import { chooseSettings, findBinaries } from './cluster.ts'

export interface Machine {
  cpu: string
  cores: number
  memoryGigabytes: number
  system: string
  node: string
  postgres: string
  postgresSettings: Record<string, string>
}

export const describeMachine = (): Machine => ({
  cpu: os.cpus()[0]?.model ?? 'unknown',
  cores: os.availableParallelism(),
  memoryGigabytes: Math.round(os.totalmem() / 2 ** 30),
  system: `${os.type()} ${os.release().split('-')[0]} ${os.arch()}`,
  node: process.version,
  postgres: execFileSync(path.join(findBinaries(), 'postgres'), ['--version'], { encoding: 'utf8' }).trim(),
  postgresSettings: { ...chooseSettings(), autovacuum: 'off' },
})
