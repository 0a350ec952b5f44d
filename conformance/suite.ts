// Runs every section against one deployment and prints a line for each check.
// Secrets and tokens are redacted before a line is printed.
import type { Section } from './check.ts'
import { Skipped } from './expect.ts'
import { tokenRequest } from './sections/auth/token-request.ts'
import { tokenResponse } from './sections/auth/token-response.ts'
import { tokenUse } from './sections/auth/token-use.ts'
import { changes } from './sections/data/changes.ts'
import { documents } from './sections/data/documents.ts'
import { eventNames } from './sections/data/event-names.ts'
import { record } from './sections/data/record.ts'
import { releaseHistory } from './sections/data/release-history.ts'
import { releases } from './sections/data/releases.ts'
import { discovery } from './sections/discovery.ts'
import { errors } from './sections/errors.ts'
import { limits } from './sections/limits.ts'
import { parameters } from './sections/paging/parameters.ts'
import { transfer } from './sections/paging/transfer.ts'
import { v1Paging } from './sections/paging/v1-paging.ts'
import { v2Paging } from './sections/paging/v2-paging.ts'
import { responses } from './sections/responses.ts'
import { versioning } from './sections/versioning.ts'
import { Service, type Target } from './service.ts'

const sections: readonly Section[] = [
  tokenRequest,
  tokenResponse,
  tokenUse,
  discovery,
  eventNames,
  v1Paging,
  v2Paging,
  parameters,
  record,
  releases,
  releaseHistory,
  changes,
  errors,
  limits,
  versioning,
  responses,
  transfer,
  documents,
]

const MAX_REASON_LENGTH = 300

/** Redacts before shortening: a part of a secret would not be recognised. */
function explain(service: Service, error: unknown): string {
  const reason = service.redact(error instanceof Error ? error.message : String(error)).replace(/\p{Cc}+/gu, ' ')
  return reason.length > MAX_REASON_LENGTH ? `${reason.slice(0, MAX_REASON_LENGTH)}…` : reason
}

export async function runSuite(
  target: Target,
  print: (line: string) => void,
): Promise<{ passed: number; failed: number }> {
  const service = new Service(target)
  let passed = 0
  let failed = 0
  for (const { name, checks } of sections)
    for (const { title, run } of checks)
      try {
        await run(service)
        passed += 1
        print(`ok   ${name} ${title}`)
      } catch (error) {
        const skipped = error instanceof Skipped
        if (!skipped) failed += 1
        print(`${skipped ? 'skip' : 'FAIL'} ${name} ${title}: ${explain(service, error)}`)
      }
  return { passed, failed }
}
