// The house: imports go down, never sideways, never up, never in a circle. `import type` counts.
const rooms = ['oauth', 'query', 'releases', 'synth']
const floors = { platform: 0, datasets: 1, records: 2 }

const climbs = Object.entries(floors).map(([folder, floor]) => ({
  name: `${folder}-does-not-climb`,
  severity: 'error',
  comment: `src/${folder} is a floor others stand on: it imports only from the floors below it.`,
  from: { path: `^src/${folder}/` },
  to: {
    path: '^(src|dev|test|conformance|bench)/',
    pathNot: [
      `^src/${folder}/`,
      ...Object.keys(floors)
        .filter((other) => floors[other] < floor)
        .map((other) => `^src/${other}/`),
    ],
  },
}))

const crossings = rooms.map((room) => ({
  name: `${room}-does-not-cross`,
  severity: 'error',
  comment: 'A room imports only from itself and the floors below; rooms meet in app.ts and cli.ts.',
  from: { path: `^src/${room}/` },
  to: {
    path: '^(src|dev|test|conformance|bench)/',
    pathNot: [`^src/${room}/`, ...Object.keys(floors).map((floor) => `^src/${floor}/`)],
  },
}))

export default {
  forbidden: [
    ...climbs,
    ...crossings,
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-doors-read-the-configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main|cli)\\.ts$' },
      to: { path: '^src/config\\.ts$' },
    },
    {
      name: 'nothing-imports-a-door',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(main|cli)\\.ts$' },
    },
    {
      name: 'conformance-is-a-black-box',
      severity: 'error',
      comment: 'Only its runner may start a local service; the checks know addresses and credentials.',
      from: { path: '^conformance/', pathNot: '^conformance/run\\.ts$' },
      to: { path: '^(src|dev|test|bench)/' },
    },
    {
      name: 'every-folder-of-the-source-has-its-floor',
      severity: 'error',
      comment: 'A new folder is added to the floors or rooms above before anything may use it.',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: [...Object.keys(floors), ...rooms].map((folder) => `^src/${folder}/`) },
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
  },
}
