// The reports of cdcepi/zika with the mapping of sources/cdcepi-zika, and what that mapping counts and skips.
import path from 'node:path'
import { filesOf, type GroupedMapping, readSource } from '../../fixtures/real-mappings.ts'

interface ZikaMapping extends GroupedMapping {
  files: {
    names: string[]
    key: unknown[]
    columns: { case_status: { map: Record<string, string> } } & Record<string, unknown>
    skip: { where: unknown; is: string[] }[]
  }[]
}

export const zikaReportsMapping = () => readSource('cdcepi-zika') as ZikaMapping

/** The folder of a report, by the name it has in the release. */
export const folderOf = (name: string): string => name.split('__').slice(0, 2).join('/')

const groupsOf = (folder: string) =>
  zikaReportsMapping().files.filter(({ names: [name = ''] }) => folderOf(name) === folder)

/** The fields of a folder that count cases. */
export const countedIn = (folder: string): string[] => Object.keys(groupsOf(folder)[0]?.columns.case_status.map ?? {})

/** Places of the second level whose name lacks the first level. The last rule of every group skips them. */
export const MISPLACED: readonly string[] = zikaReportsMapping().files[0]?.skip.at(-1)?.is ?? []

/** All reports, by a name that includes the folder, because some names occur in several folders. */
export const zikaReports = (): Record<string, string> =>
  Object.fromEntries(
    [...new Set(zikaReportsMapping().files.map(({ names: [name = ''] }) => folderOf(name)))].flatMap((folder) =>
      filesOf(`cdcepi-zika/${folder}/data/*.csv`).map((file) => [
        `${folder.replace('/', '__')}__${path.basename(file)}`,
        file,
      ]),
    ),
  )
