// Declares checks: a statement about the service as the title, and a function that tests it.
import type { Service } from './service.ts'
import { readWalk, type Walk } from './walk.ts'

export interface Check {
  readonly title: string
  readonly run: (service: Service) => Promise<void>
}

export interface Section {
  readonly name: string
  readonly checks: readonly Check[]
}

export const check = (title: string, run: (service: Service) => Promise<void>): Check => ({ title, run })

/** A check on records. It fails with a reason if the dataset has too few. */
export const dataCheck = (title: string, run: (walk: Walk, service: Service) => Promise<void> | void): Check =>
  check(title, async (service) => run(await readWalk(service), service))
