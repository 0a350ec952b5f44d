// The modules that guard something, and the tests that must notice a fault in each.
interface GuardingModule {
  readonly area: 'auth' | 'paging' | 'filters' | 'numbers' | 'storage' | 'publish'
  readonly source: string
  readonly tests: readonly string[]
}

const group = (area: GuardingModule['area'], folder: string, modules: Record<string, string>): GuardingModule[] =>
  Object.entries(modules).map(([name, tests]) => ({
    area,
    source: `src/${folder}/${name}.ts`,
    tests: tests.split(' ').map((test) => `test/${test}.test.ts`),
  }))

export const guardingModules: readonly GuardingModule[] = [
  ...group('auth', 'auth', {
    'access-tokens': 'unit/auth/access-tokens unit/auth/external-issuer',
    'client-authentication': 'unit/auth/client-authentication unit/auth/token-endpoint',
    'client-registry': 'unit/auth/client-registry integration/auth/clients',
    'credential-cache': 'unit/auth/credential-cache',
    'external-issuer': 'unit/auth/external-issuer',
    guard: 'unit/auth/whoami integration/platform/connections/http-sockets journeys/auth/revocation',
    'key-ring': 'unit/auth/key-ring integration/auth/keys',
    'provisioning/clients': 'integration/auth/clients',
    'provisioning/keys': 'integration/auth/keys',
    'token-cache': 'unit/auth/token-cache',
    'token-endpoint': 'unit/auth/token-endpoint',
  }),
  ...group('paging', 'api/paging', {
    cursor: 'unit/api/cursor',
    offsets: 'integration/api/paging/routes',
    'page-from-chunks': 'integration/api/paging/page-from-chunks',
    'read-chunks': 'integration/api/paging/page-from-chunks integration/api/paging/routes',
    'release-reference': 'integration/api/paging/walk-release integration/api/resources/releases',
    'release-resolver':
      'integration/api/paging/walk-release integration/api/paging/token-release integration/api/resources/releases',
  }),
  ...group('filters', 'api/filters', {
    fields: 'integration/api/filters/invalid-filters integration/contract/contract',
    'match-rows': 'integration/api/filters/filters',
    filters: 'integration/api/filters/invalid-filters integration/api/filters/filters',
    'records-request': 'integration/api/filters/invalid-filters integration/api/filters/filters',
    'run-filter-queries': 'integration/api/filters/filters',
  }),
  ...group('numbers', 'methods', {
    comparability: 'unit/methods/comparability',
    'derived-series': 'unit/methods/figures',
    'event-summary': 'unit/methods/event-summary integration/api/resources/events integration/publish/changes',
    figures: 'integration/api/resources/figure-sql',
    increments: 'unit/methods/increments',
    'place-cover': 'unit/methods/place-cover',
    'record-series': 'integration/api/resources/figures integration/api/resources/events',
  }),
  ...group('numbers', 'api/figures', {
    'comparison-problem': 'integration/api/resources/figures',
    'figure-request': 'integration/api/filters/invalid-filters integration/api/resources/figures',
    'cover-series': 'integration/api/resources/figures',
    'explain-records': 'integration/api/resources/figures',
    'figure-columns': 'integration/api/resources/figures',
    'figure-sql': 'integration/api/resources/figures',
    'group-values': 'integration/api/resources/figures',
    'mixed-rows': 'integration/api/resources/figures',
    'read-figures': 'integration/api/resources/figures',
  }),
  ...group('storage', 'storage', {
    chunk: 'unit/storage/chunk',
    contract: 'unit/storage/contract integration/contract/contract',
    'crc-combine': 'integration/storage/gzip-splice',
    'file-store': 'integration/storage/file-store',
    'gzip-splice': 'integration/storage/gzip-splice',
    'normalise-text': 'unit/publish/text',
    'published-releases': 'integration/storage/published-releases integration/api/resources/releases',
    'serialise-record': 'unit/storage/chunk integration/publish/difficult-text',
    'verified-files': 'integration/api/file-verification',
    versions: 'integration/api/pruned-releases integration/api/paging/routes',
  }),
  ...group('publish', 'publish', {
    publish: 'integration/publish/publish integration/publish/changes integration/publish/rejected-rows',
    rollback: 'integration/publish/rollback integration/publish/rollback-pruned',
    prune: 'integration/publish/prune',
    'findings/findings': 'unit/publish/findings integration/publish/rejected-rows integration/publish/publish',
    'findings/rejected-rows': 'unit/publish/findings integration/publish/rejected-rows',
    'input/csv': 'unit/publish/input/csv',
    'input/date-format': 'unit/publish/input/mapping unit/publish/mapping-cells',
    'input/json-lines': 'unit/publish/input/mapping integration/publish/publish',
    'input/map-rows': 'unit/publish/input/mapping unit/publish/mapping-cells',
    'input/mapping': 'unit/publish/input/mapping unit/publish/mapping-cells',
    'input/number-format': 'unit/publish/input/mapping unit/publish/mapping-cells',
    'input/read-release': 'integration/publish/publish integration/publish/changes',
    'input/release-manifest':
      'unit/publish/input/release-manifest integration/publish/publish integration/publish/changes',
    'input/json-value': 'unit/publish/input/json-value unit/publish/validation',
    'validate/validate-cell': 'unit/publish/validate-row unit/publish/validation unit/publish/text',
    'validate/validate-row': 'unit/publish/validate-row unit/publish/validation integration/publish/publish',
    'validate/validate-release':
      'unit/publish/input/mapping integration/publish/bulk/validate-release integration/publish/publish',
    'validate/id-set': 'integration/publish/bulk/id-set',
    'validate/signed-count': 'unit/publish/validation',
    'write/compare': 'integration/publish/publish integration/publish/changes',
    'write/latest-release': 'integration/publish/publish integration/contract/contract',
    'write/mark-breaks': 'integration/publish/series-changes',
    'write/chunks': 'integration/publish/publish integration/publish/changes integration/publish/publish-failed',
    'write/versions': 'integration/publish/publish',
    'export/export-files': 'integration/publish/export-files',
    'export/write-files': 'integration/publish/export-files',
  }),
]
