// The reports of cdcepi/zika with the mapping of sources/cdcepi-zika.
import path from 'node:path'
import { filesOf, type GroupedMapping, readSource } from '../../fixtures/real-mappings.ts'

interface ZikaMapping extends GroupedMapping {
  files: {
    names: string[]
    key: unknown[]
    columns: Record<string, unknown>
  }[]
}

export const zikaReportsMapping = () => readSource('cdcepi-zika') as ZikaMapping

/** The folder of a report, by the name it has in the release. */
export const folderOf = (name: string): string => name.split('__').slice(0, 2).join('/')

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
