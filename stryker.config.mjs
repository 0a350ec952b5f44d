// StrykerJS: plants faults in the folder that MUTANTS_FOLDER names and runs the tests that reach them (npm run mutants).
const folders = {
  auth: ['test/unit/auth/*.test.ts', 'test/integration/auth/*.test.ts'],
  methods: ['test/unit/methods/*.test.ts', 'test/integration/api/resources/events.test.ts'],
  api: [
    'test/unit/api/*.test.ts',
    'test/integration/api/{feeds,pictures,responder,table,paging/page-from-chunks,paging/routes,search/*}.test.ts',
    'test/integration/api/resources/{coverage,descriptions,figures,files,record,releases}.test.ts',
  ],
  publish: [
    'test/unit/publish/**/*.test.ts',
    'test/integration/publish/{changes,export-files,publish,replace-source,bulk/{id-set,parquet-file}}.test.ts',
    'test/integration/contract/contract.test.ts',
  ],
  'platform/http': [
    'test/unit/platform/{content-encoding,concurrency-limit,failed-attempts,health,http-server,pages/landing-page,problem,query-string,rate-limit}.test.ts',
    'test/integration/platform/{quota,connections/*}.test.ts',
  ],
}
const folder = process.env['MUTANTS_FOLDER'] ?? 'auth'
const report = `reports/mutants/${folder.replace('/', '-')}`

export default {
  mutate: [`src/${folder}/**/*.ts`],
  plugins: ['@stryker-mutator/tap-runner', './test/mutants/sample.mjs'],
  ignorers: ['sample'],
  testRunner: 'tap',
  tap: { testFiles: folders[folder], nodeArgs: ['--test-reporter=tap'], forceBail: true },
  // The texts of messages and of SQL: a test that compares them repeats them, and SQL without its text always fails.
  mutator: { excludedMutations: ['StringLiteral'] },
  checkers: [],
  coverageAnalysis: 'perTest',
  // Schemas and constants: every test runs for each of them, which takes too long with those of the API.
  ignoreStatic: folder === 'api',
  // Tests wait for other processes, and a fault that hangs waits for its timeout.
  concurrency: 2,
  timeoutMS: 20_000,
  dryRunTimeoutMinutes: 20,
  ignorePatterns: [
    '**',
    '!{src,test,dev,migrations,sample,sources,conformance,clients,deploy,docs,explorer,reference}/**',
    '!package.json',
    '!tsconfig*.json',
  ],
  tempDirName: '.stryker-tmp',
  reporters: ['clear-text', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, reportScoreTable: true },
  jsonReporter: { fileName: `${report}.json` },
  incremental: process.env['MUTANTS_INCREMENTAL'] !== 'no',
  incrementalFile: `${report}-incremental.json`,
}
