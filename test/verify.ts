// Proofs by area: runs the tests that show what an area promises, and ends with one line a person or a program can read.
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { globalSetup, globalTeardown } from './database.ts'

/** What is shown in minutes; the longer proofs have commands of their own. */
const areas: Record<string, readonly string[]> = {
  releases: [
    'test/releases/**/*.test.ts',
    'test/query/{change,release,record,file}-routes.test.ts',
    'test/journeys/{real-revisions,zika,files,publish-killed}.test.ts',
  ],
  history: [
    // Releases that survive changes of the schema, a second dataset, and operator commands in pairs.
    'test/{contract,datasets}/*.test.ts',
    'test/records/contract.test.ts',
    'test/releases/command-*.test.ts',
    // Publishing, rolling back and pruning.
    'test/releases/{publish-failed,withdraw-pruned,prune,id-set,series-breaks,series-changes}.test.ts',
    // Validation.
    'test/releases/{validation,text,nasty-text,rejection}.test.ts',
    'test/journeys/real-validation.test.ts',
    // Paging.
    'test/query/{walk-release,many-versions,etag,facet-subsets,kept-releases,token-release}.test.ts',
    'test/journeys/{v1-token,cache-control,request-target}.test.ts',
    // Replicas, restores and roles.
    'test/platform/{watch,watch-replicas,freshness,roles,privilege-escalation,schema-dump}.test.ts',
    'test/journeys/{replica-prune,replica-stale,restored-database}.test.ts',
    // What one client may hold, and how a program starts.
    'test/platform/{database,cancellation,concurrency-limit,connections,database-failure}.test.ts',
    'test/journeys/{unread-responses,fairness,start}.test.ts',
    'test/dev/*.test.ts',
  ],
  asking: [
    'test/query/{filters,filter-refusals,filtered-page,calendar,series,event-routes,answer,cursor}.test.ts',
    'test/journeys/{asking,limits,schemathesis}.test.ts',
  ],
}

const [area = ''] = process.argv.slice(2)
const globPatterns = areas[area]
if (globPatterns === undefined) throw new Error(`verify what? One of ${Object.keys(areas).join(', ')}`)

await globalSetup()
let [passed, failed] = [0, 0]
const tests = run({ globPatterns })
tests.on('test:pass', ({ details, skip, todo }) => {
  if (details.type !== 'suite' && !skip && !todo) passed += 1
})
tests.on('test:fail', () => {
  failed += 1
})
for await (const text of tests.compose(spec)) process.stdout.write(String(text))
await globalTeardown()
console.log(`${area}: ${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1
