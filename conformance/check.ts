// How a check is declared: the statement it holds the service to, in words, and the question that can refute it.
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

/** A check that looks at records: fails with the reason when the dataset has too few. */
export const dataCheck = (title: string, run: (walk: Walk, service: Service) => Promise<void> | void): Check =>
  check(title, async (service) => run(await readWalk(service), service))
