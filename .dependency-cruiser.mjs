// The layers: an import goes to a layer further down or stays in its own. `import type` counts.

/** From the bottom to the top. Folders on one line do not import each other. */
const LAYERS = [
  ['platform'],
  ['datasets'],
  ['methods'],
  ['storage'],
  ['columns', 'formats'],
  ['auth', 'api', 'publish'],
  ['explorer', 'operate', 'mcp', 'notify'],
]

/** The same within a folder. The files of the folder itself are the bottom layer or, with `filesOnTop`, the top layer. */
const SUBFOLDERS = [
  {
    folder: 'platform',
    layers: [
      ['json', 'metrics', 'redis', 'egress'],
      ['http', 'postgres', 'duckdb', 'cli'],
      ['tracing', 'pages'],
    ],
    filesOnTop: false,
  },
  { folder: 'storage', layers: [['files']], filesOnTop: false },
  { folder: 'auth', layers: [['links'], ['provisioning']], filesOnTop: false },
  {
    folder: 'api',
    layers: [
      ['response'],
      ['paging'],
      ['filters'],
      ['search'],
      ['queries', 'figures'],
      ['measures'],
      ['requests'],
      ['resources', 'feeds'],
      ['pictures'],
    ],
    filesOnTop: true,
  },
  { folder: 'notify', layers: [['watches', 'delivery']], filesOnTop: true },
  { folder: 'publish', layers: [['findings'], ['input'], ['validate'], ['write', 'export']], filesOnTop: true },
]

/** The folders of the explorer's page, from the bottom to the top. Its files are below all of them, but for main.tsx. */
const PAGE_LAYERS = ['take', 'charts', 'parts', 'panels', 'watches', 'places', 'event', 'picture', 'pages']

const REPOSITORY = '^(src|dev|test|conformance|bench|clients|explorer|site)/'

const betweenFolders = LAYERS.flatMap((layer, height) =>
  layer.map((folder) => ({
    name: `${folder}-imports-only-lower-layers`,
    severity: 'error',
    from: { path: `^src/${folder}/` },
    to: {
      path: REPOSITORY,
      pathNot: [folder, ...LAYERS.slice(0, height).flat()].map((allowed) => `^src/${allowed}/`),
    },
  })),
)

const betweenSubfolders = SUBFOLDERS.flatMap(({ folder, layers, filesOnTop }) => [
  ...layers.flatMap((layer, height) =>
    layer.map((subfolder) => ({
      name: `${folder}-${subfolder}-imports-only-lower-layers`,
      severity: 'error',
      from: { path: `^src/${folder}/${subfolder}/` },
      to: {
        path: `^src/${folder}/`,
        pathNot: [
          ...[subfolder, ...layers.slice(0, height).flat()].map((allowed) => `^src/${folder}/${allowed}/`),
          ...(filesOnTop ? [] : [`^src/${folder}/[^/]+$`]),
        ],
      },
    })),
  ),
  ...(filesOnTop
    ? []
    : [
        {
          name: `${folder}-files-are-the-bottom-layer`,
          severity: 'error',
          from: { path: `^src/${folder}/[^/]+$` },
          to: { path: `^src/${folder}/[^/]+/` },
        },
      ]),
])

const withinPage = [
  {
    name: 'page-files-are-the-bottom-layer',
    severity: 'error',
    from: { path: '^explorer/src/[^/]+$', pathNot: '^explorer/src/main\\.tsx$' },
    to: { path: '^explorer/src/[^/]+/' },
  },
  ...PAGE_LAYERS.slice(0, -1).map((folder, height) => ({
    name: `page-${folder}-import-only-lower-layers`,
    severity: 'error',
    from: { path: `^explorer/src/${folder}/` },
    to: { path: PAGE_LAYERS.slice(height + 1).map((higher) => `^explorer/src/${higher}/`) },
  })),
]

const isLayer = [
  ...LAYERS.flat().map((folder) => `^src/${folder}/[^/]+$`),
  ...SUBFOLDERS.flatMap(({ folder, layers }) => layers.flat().map((subfolder) => `^src/${folder}/${subfolder}/[^/]+$`)),
]

export default {
  forbidden: [
    ...betweenFolders,
    ...betweenSubfolders,
    ...withinPage,
    { name: 'no-import-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-entry-points-read-the-configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(serve|cli)\\.ts$' },
      to: { path: '^src/config\\.ts$' },
    },
    {
      name: 'nothing-imports-an-entry-point',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(main|notifier|cli)\\.ts$' },
    },
    {
      name: 'the-service-does-not-import-tools',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(dev|test|conformance|bench|clients|explorer|site)/' },
    },
    {
      name: 'the-page-knows-only-the-interface',
      severity: 'error',
      comment: 'It uses the service through the TypeScript client, as anybody can.',
      from: { path: '^explorer/src/' },
      to: { path: '^(src|dev|test|conformance|bench)/' },
    },
    {
      name: 'the-explorer-reads-data-only-in-the-browser',
      severity: 'error',
      comment: 'Its page uses the API as any client does; the service only sends the page and keeps the session.',
      from: { path: '^src/explorer/' },
      to: { path: '^src/', pathNot: '^src/(explorer|auth|platform)/' },
    },
    {
      name: 'clients-know-only-the-interface',
      severity: 'error',
      comment:
        'A client package is published alone; only its tests and the checks of all packages may start a service.',
      from: { path: '^clients/[^/]+/', pathNot: '^clients/([^/]+/test/|compare/|gallery/|torture/run\\.ts$)' },
      to: { path: '^(src|dev|test|conformance|bench)/' },
    },
    {
      name: 'conformance-is-a-black-box',
      severity: 'error',
      comment: 'Only its runner may start a local service; the checks know addresses and credentials.',
      from: { path: '^conformance/', pathNot: '^conformance/run\\.ts$' },
      to: { path: '^(src|dev|test|bench)/' },
    },
    {
      name: 'unit-tests-need-no-database',
      severity: 'error',
      comment: 'npm run test:unit takes seconds and starts no server.',
      from: { path: '^test/unit/' },
      to: { reachable: true, path: '^(test/database|dev/(postgres|replica|service))\\.ts$' },
    },
    {
      name: 'every-folder-is-a-layer',
      severity: 'error',
      comment: 'Add a new folder to LAYERS or SUBFOLDERS before anything imports from it.',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: isLayer },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-development-dependency-in-the-service',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^clients/[^/]+/dist/' },
  },
}
