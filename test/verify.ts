// Runs the tests of one area and prints how many passed and failed.
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { globalSetup, globalTeardown } from './database.ts'

const areas: Record<string, readonly string[]> = {
  releases: [
    'test/unit/{methods/series-breaks,publish/**/*}.test.ts',
    'test/integration/publish/**/*.test.ts',
    'test/integration/api/resources/{changes,releases,record,files}.test.ts',
    'test/journeys/data/{real-revisions,zika,files,publish-killed}.test.ts',
  ],
  history: [
    // Old releases after schema changes, a second dataset, and pairs of operator commands.
    'test/{unit,integration}/datasets/*.test.ts',
    'test/integration/contract/*.test.ts',
    'test/unit/storage/contract.test.ts',
    'test/proofs/command-*.test.ts',
    // Publishing, rolling back and pruning.
    'test/integration/publish/bulk/id-set.test.ts',
    'test/unit/methods/series-breaks.test.ts',
    'test/integration/publish/{publish-failed,rollback-pruned,prune}.test.ts',
    'test/proofs/series-changes.test.ts',
    // Validation.
    'test/unit/publish/{validation,text}.test.ts',
    'test/integration/publish/{difficult-text,rejected-rows}.test.ts',
    'test/journeys/data/real-validation.test.ts',
    // Paging.
    'test/integration/api/{etag,pruned-releases}.test.ts',
    'test/integration/api/paging/{walk-release,token-release}.test.ts',
    'test/journeys/{auth/v1-token,http/cache-control,http/request-target}.test.ts',
    // Replicas, restores and roles.
    'test/unit/platform/replica-freshness.test.ts',
    'test/integration/platform/{watcher,roles,privilege-escalation,schema-dump}.test.ts',
    'test/proofs/{watcher-replicas,replica-prune,replica-stale,restored-database}.test.ts',
    // Limits of one client, and the start of the programs.
    'test/{unit/platform/concurrency-limit,integration/platform/connections/*}.test.ts',
    'test/integration/platform/{database,cancellation,database-error}.test.ts',
    'test/journeys/http/{start,unread-responses}.test.ts',
    'test/integration/dev/*.test.ts',
  ],
  filtering: [
    'test/unit/methods/{calendar,increments,figures}.test.ts',
    'test/unit/api/cursor.test.ts',
    'test/integration/api/filters/{filters,invalid-filters}.test.ts',
    'test/integration/api/resources/events.test.ts',
    'test/integration/api/responder.test.ts',
    'test/journeys/{data/filtering,http/limits}.test.ts',
  ],
  // The column index: its answers compared with records in memory, and with a second program for numbers.
  engine: [
    'test/oracle/*.test.ts',
    'test/integration/columns/*.test.ts',
    'test/integration/platform/column-index.test.ts',
    'test/integration/api/filters/*.test.ts',
    'test/integration/api/resources/{figures,figure-sql,changes,events}.test.ts',
    'test/journeys/data/{files,filtering,index-directory}.test.ts',
  ],
  // The web interface, in a real browser.
  explorer: ['test/explorer/*.test.ts', 'test/unit/explorer/*.test.ts', 'test/watches/watch-in-explorer.test.ts'],
  // Deployment and operations, with the real programs beside the service. Programs that are not installed are skipped.
  operate: [
    'test/operate/*.test.ts',
    'test/journeys/postgres/*.test.ts',
    'test/unit/{config,operate/*}.test.ts',
    'test/proofs/{release,watcher-replicas,replica-prune,replica-stale,restored-database}.test.ts',
    'test/journeys/http/drain.test.ts',
    'test/integration/platform/{quota,watcher,column-index,copy-out}.test.ts',
    'test/integration/publish/{prune,export-files}.test.ts',
    'test/integration/columns/*.test.ts',
    'test/unit/platform/{health,temporary-directory}.test.ts',
    'test/unit/explain-config.test.ts',
  ],
  // Attacks that must fail, each with a control that succeeds without its guard.
  security: [
    'test/security/*/*.test.ts',
    'test/fuzz/*.test.ts',
    'test/timing/abandoned-requests.test.ts',
    'test/proofs/change-of-secret.test.ts',
    'test/load/memory.ts',
    'test/integration/auth/*.test.ts',
    'test/integration/platform/{roles,privilege-escalation,connections/*,cancellation}.test.ts',
    'test/journeys/auth/*.test.ts',
    'test/journeys/http/{cache-control,limits,request-target,unread-responses}.test.ts',
    'test/unit/auth/*.test.ts',
    'test/unit/project/{evidence,lock-file,pinned-tools}.test.ts',
  ],
  // Bad requests, and bad files and parts of requests for each reader. docs/security-fuzz.md has the last result.
  fuzz: ['test/fuzz/*.test.ts'],
  // The descriptions of releases, by the programs of their formats; mlcroissant loads every release.
  describe: [
    'test/describe/*.test.ts',
    'test/unit/formats/release-description.test.ts',
    'test/integration/api/resources/descriptions.test.ts',
    'test/journeys/http/landing-page.test.ts',
  ],
  // Link keys, and what programs, feed readers and web pages read with them. Programs that are not installed are skipped.
  links: ['test/links/*.test.ts', 'test/security/credentials/links.test.ts'],
  // Tools for assistants: the protocol, the numbers, traps, planted texts, and what they cost.
  agents: ['test/agents/*.test.ts', 'test/security/requests/assistants.test.ts', 'test/unit/mcp/*.test.ts'],
  // Watches and what they say, compared with a second program; their roles, processes and cost.
  watches: [
    'test/watches/**/*.test.ts',
    'test/integration/platform/roles.test.ts',
    'test/security/operator/database-privileges.test.ts',
  ],
  // The documentation: every example, link, page and word. Needs `npm ci --prefix site` and clients/python/check.sh once.
  docs: ['test/docs/*.test.ts', 'test/unit/site/*.test.ts', 'test/unit/project/{links,decisions}.test.ts'],
  // What a version hands out: built twice, installed from the file alone, and used. Needs buildah, podman and R, or skips.
  artefacts: ['test/artefacts/*.test.ts', 'test/operate/{package,image}.test.ts'],
  // What depends on the speed of the machine and on what else it does. Not part of CI; wants a quiet machine.
  timing: ['test/timing/*.test.ts', 'test/load/fairness.ts'],
  // An hour of everything at once.
  soak: ['test/load/soak.ts'],
  // Natural questions, and the rule for the recommended answer.
  questions: ['test/questions/*.test.ts'],
  // The numbers of docs/methods.md, compared with a second program. What filters find is compared by engine.
  numbers: ['test/oracle/!(engine-questions).test.ts'],
}

const [area = ''] = process.argv.slice(2)
const globPatterns = areas[area]
if (globPatterns === undefined) throw new Error(`name an area to verify: ${Object.keys(areas).join(', ')}`)

// npm test asks fewer questions, of fewer records.
process.env['NUMBERS_QUESTIONS'] ??= '5000'
if (area === 'fuzz') {
  process.env['FUZZ_INPUTS'] ??= '500000'
  process.env['COVERAGE_FUZZ_SECONDS'] ??= '110'
}
process.env['WATCHES'] ??= '5000'
process.env['WATCHED_RECORDS'] ??= '1000000'
process.env['PUBLICATIONS'] ??= '20'
process.env['ENGINE_QUESTIONS'] ??= '10000'
process.env['FLOOD_CONNECTIONS'] ??= '950'
process.env['EXPLORER_RECORDS'] ??= '1000000'
process.env['TRUTH_STATES'] ??= '500'
process.env['DESCRIBE_LOAD'] ??= 'all'
await globalSetup()
let [passed, failed] = [0, 0]
// Tests wait for other processes most of the time, unless they measure it.
const tests = run({ globPatterns, concurrency: ['timing', 'soak', 'explorer'].includes(area) ? 1 : 3 })
tests.on('test:pass', ({ details, skip, todo }) => {
  if (details.type !== 'suite' && !skip && !todo) passed += 1
})
// The report has the reasons at its end; a run can take an hour.
tests.on('test:fail', ({ name, details, todo }) => {
  if (todo !== undefined && todo !== false) return
  failed += 1
  // A hook that fails has no cause.
  console.log(`${name} failed: ${String(details.error.cause ?? details.error)}`)
})
for await (const text of tests.compose(spec)) process.stdout.write(String(text))
await globalTeardown()
console.log(`${area}: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
