// The recipes of deploy/, checked by programs that know them: the Compose file, whose services image.test.ts runs, the manifests of
// Kubernetes, the unit of systemd. And what a recipe names exists: variables, files, volumes, ports.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { SIGN_IN_VARIABLES, VARIABLES } from '../../src/variables.ts'
import { isOurs, python, renderCompose, withoutModules } from '../fixtures/operate/compose.ts'
import { createDirectory, withoutPrograms, writeIn } from '../fixtures/operate/program.ts'

const root = path.resolve(import.meta.dirname, '../..')
const deploy = path.join(root, 'deploy')
const read = (name: string) => readFileSync(path.join(deploy, name), 'utf8')
const run = (command: string, args: readonly string[], cwd = deploy) =>
  spawnSync(command, args, { encoding: 'utf8', cwd })
const withoutPython = withoutModules('yaml', 'kubernetes_validate', 'podman_compose')

test('every variable that a recipe sets is one that the service reads', () => {
  const known = new Set([...Object.keys(VARIABLES), ...Object.keys(SIGN_IN_VARIABLES)])
  const own = new Set(['OUTBREAKS_HOSTNAME', 'OUTBREAKS_VERSION'])
  let found = 0
  for (const file of globSync('{compose.yaml,systemd/*,kubernetes/*,Containerfile}', { cwd: deploy }))
    for (const [, name = ''] of read(file).matchAll(/\b((?:OUTBREAKS_[A-Z_]+|DATABASE_URL)\b)/g)) {
      found += 1
      const variable = name.replace(/_FILE$/, '')
      assert.ok(known.has(variable) || own.has(name), `${file} sets ${name}, which nothing reads`)
    }
  assert.ok(found > 20)
})

test('every file of the repository that a recipe mounts exists', () => {
  for (const [, file = ''] of read('compose.yaml').matchAll(/"?\.\/([\w./-]+):/g))
    assert.ok(file === 'input' || existsSync(path.join(deploy, file)), `${file} does not exist`)
})

/** What lost work, or made a start slow, before. The proxies are run in balancers.test.ts. */
const REQUIRED: [file: string, what: string, pattern: RegExp][] = [
  ['systemd/outbreaks@.service', 'waits for /ready', /^ExecStartPost=.*\/ready/m],
  ['systemd/outbreaks@.service', 'keeps the index', /^CacheDirectory=[^]*OUTBREAKS_INDEX=\/var\/cache\/outbreaks$/m],
  [
    'compose.yaml',
    'keeps the index of each node',
    /"index1:\/index"[^]*"index2:\/index"[^]*index1: \{\}, index2: \{\}/,
  ],
  [
    'compose.yaml',
    'waits until PostgreSQL listens, which it does not while it is initialised',
    /pg_isready, -h, localhost/,
  ],
  ['compose.yaml', 'has no /tmp in memory', /^(?![^]*tmpfs:)[^]*"\.\/input:\/input:ro", "\/tmp"/],
  ['kubernetes/node.yaml', 'keeps the index of each node', /volumeClaimTemplates:\s+- metadata: \{ name: index \}/],
  ['kubernetes/publish.yaml', 'has a job that publishes, with room', /release, publish[^]*emptyDir: \{ sizeLimit: 8Gi/],
]

for (const [file, what, pattern] of REQUIRED) test(`${file} ${what}`, () => assert.match(read(file), pattern))

describe('the unit of systemd', { skip: withoutPrograms('systemd-analyze') }, () => {
  test('is valid, and has few rights', () => {
    const directory = createDirectory()
    const unit = writeIn(
      directory,
      'outbreaks@.service',
      read('systemd/outbreaks@.service').replace(/^ExecStart=.*$/m, 'ExecStart=/bin/true'),
    )
    const verified = run('systemd-analyze', ['verify', '--man=no', unit.replace('@.', '@1.')], directory)
    assert.ok(!/outbreaks@/.test(verified.stderr), verified.stderr)
    const { stdout } = run('systemd-analyze', ['security', '--offline=true', '--no-pager', unit])
    const [, exposure = '10'] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? []
    assert.ok(Number(exposure) <= 2, `the exposure is ${exposure}:\n${stdout}`)
  })
})

describe('the Compose file and the manifests', { skip: withoutPython }, () => {
  test('kubernetes-validate accepts every manifest, strictly', () => {
    const program = `
import glob, sys, yaml, kubernetes_validate
count = 0
for file in sorted(glob.glob('kubernetes/*.yaml')):
    for document in yaml.safe_load_all(open(file)):
        if document['apiVersion'].split('/')[0] in ('kustomize.config.k8s.io', 'postgresql.cnpg.io'):
            continue
        kubernetes_validate.validate(document, '1.31', strict=True)
        count += 1
print(count)`
    const { status, stdout, stderr } = run(python, ['-c', program])
    assert.equal(status, 0, stderr)
    assert.ok(Number(stdout) >= 10, stdout)
  })

  test('a manifest with a misspelt field is rejected', () => {
    const program = `
import yaml, kubernetes_validate
document = next(yaml.safe_load_all(open('kubernetes/node.yaml')))
document['spec']['template']['spec']['containers'][0]['readinesProbe'] = {}
kubernetes_validate.validate(document, '1.31', strict=True)`
    assert.notEqual(run(python, ['-c', program]).status, 0)
  })

  test('every pod is restricted: no root, no writable root file system, no capabilities', () => {
    const program = `
import glob, yaml
for file in glob.glob('kubernetes/*.yaml'):
    for document in yaml.safe_load_all(open(file)):
        if document['kind'] not in ('Deployment', 'StatefulSet', 'Job', 'CronJob'):
            continue
        pod = document['spec'].get('jobTemplate', document)['spec']['template']['spec']
        assert pod['securityContext']['runAsNonRoot'] and pod['securityContext']['seccompProfile']['type'] == 'RuntimeDefault', file
        assert pod['automountServiceAccountToken'] is False, file
        for container in pod['containers']:
            context = container['securityContext']
            assert context['readOnlyRootFilesystem'] and not context['allowPrivilegeEscalation'], file
            assert context['capabilities'] == {'drop': ['ALL']}, file
            assert 'memory' in container['resources']['limits'], file`
    const { status, stderr } = run(python, ['-c', program])
    assert.equal(status, 0, stderr)
  })

  test('a container has its index in a volume, or none: elsewhere it cannot write, and outbreakctl checks nothing', () => {
    const containers = [...readComposeContainers(), ...readPodContainers()]
    assert.deepEqual(findUnwritableIndexes(containers), [])
    const withIndex = containers.filter(({ index }) => index !== '').map(({ name }) => name)
    assert.deepEqual(withIndex.sort(), ['node', 'node1', 'node2', 'notifier', 'notifier'])
    const inherited = containers.map((container) => ({ ...container, index: '/index' }))
    assert.deepEqual(findUnwritableIndexes(inherited).sort(), ['migrate', 'migrate', 'operator', 'publish'])
  })
})

interface Container {
  readonly name: string
  /** OUTBREAKS_INDEX; empty if there is none. */
  readonly index: string
  readonly mounts: readonly string[]
}

const findUnwritableIndexes = (containers: readonly Container[]): string[] =>
  containers.filter(({ index, mounts }) => index !== '' && !mounts.includes(index)).map(({ name }) => name)

const readComposeContainers = (): Container[] =>
  Object.entries(renderCompose(deploy).services)
    .filter(([, service]) => isOurs(service))
    .map(([name, { environment = {}, volumes = [] }]) => ({
      name,
      index: environment['OUTBREAKS_INDEX'] ?? '',
      mounts: volumes.map((volume) => volume.split(':')[1] ?? volume),
    }))

/** Of our image. What a manifest sets itself comes before the map that all share. */
function readPodContainers(): Container[] {
  const program = `
import glob, json, yaml
shared = yaml.safe_load(open('kubernetes/kustomization.yaml'))['configMapGenerator'][0]['literals']
containers = []
for file in sorted(glob.glob('kubernetes/*.yaml')):
    for document in yaml.safe_load_all(open(file)):
        if document['kind'] not in ('Deployment', 'StatefulSet', 'Job', 'CronJob'):
            continue
        for container in document['spec'].get('jobTemplate', document)['spec']['template']['spec']['containers']:
            if container['image'] != 'outbreak-data-service':
                continue
            maps = [source for source in container.get('envFrom', []) if 'configMapRef' in source]
            environment = dict(literal.split('=', 1) for literal in shared) if maps else {}
            environment.update((variable['name'], variable.get('value')) for variable in container.get('env', []))
            containers.append({'name': container['name'], 'index': environment.get('OUTBREAKS_INDEX', ''),
                               'mounts': [mount['mountPath'] for mount in container.get('volumeMounts', [])]})
print(json.dumps(containers))`
  const { status, stdout, stderr } = run(python, ['-c', program])
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout) as Container[]
}

test('every image has a version', () => {
  const images = ['compose.yaml', 'kubernetes/redis.yaml'].flatMap((file) => [
    ...read(file).matchAll(/image: (docker\S+)/g),
  ])
  assert.ok(images.length > 5)
  for (const [, image = ''] of images) assert.match(image, /:v?\d[\d.]*$/)
})

describe('create-secrets', () => {
  test('writes secrets once, each long and different', () => {
    const directory = createDirectory()
    const script = writeIn(directory, 'create-secrets', read('create-secrets'))
    assert.equal(run('sh', [script]).status, 0)
    assert.equal(statSync(path.join(directory, 'secrets')).mode & 0o777, 0o700, 'others can enter the directory')
    const secrets = globSync('secrets/*', { cwd: directory }).map((file) =>
      readFileSync(path.join(directory, file), 'utf8').trim(),
    )
    const used = secrets.filter((secret) => secret !== '')
    assert.equal(new Set(used).size, used.length)
    // The previous and next secrets.
    assert.equal(secrets.length - used.length, 2)
    const names = read('compose.yaml').matchAll(/file: \.\/secrets\/(\w+)/g)
    for (const [, name = ''] of names)
      assert.ok(existsSync(path.join(directory, 'secrets', name)), `${name} is missing`)
    assert.match(readFileSync(path.join(directory, 'secrets/secret'), 'utf8'), /^[\w-]{43}$/)
    assert.equal(run('sh', [script]).status, 1)
  })
})
