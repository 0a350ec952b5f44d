// npm run release: checks that a version can be released, then builds its artefacts and notes in dist/artefacts.
// With --tag it checks a tag that exists, as the release workflow does. It never changes the repository.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { ARTEFACT_OPTIONS, buildChosen } from './artefacts.ts'
import { root } from './package.ts'
import { readVersions } from './version.ts'

export interface ReleaseState {
  version: string
  /** By file: the version of each other package. */
  versions: Readonly<Record<string, string>>
  changelog: string
  /** The output of `git status --porcelain`. */
  changes: string
  /** Absent while the tag is still to be made. */
  tag?: string | undefined
  branch: string
  tags: readonly string[]
  today: string
}

/** What stands in the way of the release, as sentences. */
export function findFaults(state: ReleaseState): string[] {
  const { version, versions, changelog, changes, tag, branch, tags, today } = state
  const section = findSection(changelog, version)
  return [
    ...(/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version) ? [] : [`${version} is not a version like 1.2.3`]),
    ...Object.entries(versions)
      .filter(([, other]) => other !== version)
      .map(([file, other]) => `${file} has version ${other}, and package.json has ${version}`),
    ...(changes === '' ? [] : [`the working tree has changes that are not committed:\n${changes}`]),
    ...(section === undefined ? [`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD"`] : []),
    ...(section?.text === '' ? [`the section of ${version} in CHANGELOG.md is empty`] : []),
    ...(tag === undefined
      ? [
          ...(section === undefined || section.date === today
            ? []
            : [`CHANGELOG.md dates ${version} ${section.date}, and today is ${today}`]),
          ...(branch === 'main' ? [] : [`a release is made on the branch main, and this is ${branch}`]),
          ...(tags.includes(`v${version}`) ? [`the tag v${version} exists already: raise the version`] : []),
        ]
      : tag === `v${version}`
        ? []
        : [`the tag is ${tag}, and package.json has version ${version}`]),
  ]
}

/** The section of a version in the changelog, without its heading. */
export function findSection(changelog: string, version: string): { date: string; text: string } | undefined {
  for (const section of changelog.split(/^## /m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n')
    const [, number, date] = /^(\S+) - (\d{4}-\d{2}-\d{2})$/.exec(heading) ?? []
    if (number === version && date !== undefined) return { date, text: lines.join('\n').trim() }
  }
  return undefined
}

/** The checkout may belong to another user, as it does in containers. Nothing in it is run. */
const readGit = (...args: string[]): string =>
  execFileSync('git', ['-c', `safe.directory=${root}`, ...args], { cwd: root, encoding: 'utf8' }).trim()

if (import.meta.main) {
  const { values } = parseArgs({ options: { tag: { type: 'string' }, ...ARTEFACT_OPTIONS } })
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8')
  const faults = findFaults({
    version,
    versions: readVersions(),
    changelog,
    tag: values.tag,
    changes: readGit('status', '--porcelain'),
    branch: readGit('branch', '--show-current'),
    tags: readGit('tag', '--list').split('\n'),
    today: new Date().toISOString().slice(0, 10),
  })
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exit(1)

  const directory = await buildChosen(values)
  writeFileSync(path.join(directory, 'release-notes.md'), `${findSection(changelog, version)?.text}\n`)
  console.log(`commit ${readGit('rev-parse', 'HEAD')}`)
  if (values.tag === undefined) {
    console.log(`\nNext: git tag -a v${version} -m v${version} && git push origin v${version}`)
  }
}
