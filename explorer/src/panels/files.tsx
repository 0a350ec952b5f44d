// The files of a release. The browser compares the SHA-256 before it saves a file.
import { useState } from 'preact/hooks'
import { Damaged, type Release, type ReleaseFile } from '../../../clients/typescript/src/client.ts'
import { signInIfEnded } from '../ask.ts'
import { formatBytes, formatNumber } from '../format.ts'
import { Icon } from '../parts/icon.tsx'
import { Table } from '../parts/table.tsx'
import { downloadFile } from '../take/download.ts'

const FOR: Readonly<Record<string, string>> = {
  csv: 'opens in a spreadsheet',
  ndjson: 'a record on each line',
  parquet: 'for pandas, R, DuckDB',
}

export function FilesTable({ release }: { release: Release }) {
  if (release.files.length === 0)
    return <p class="empty">This release has no files. The page Records has them for each question.</p>
  return (
    <Table
      label={`Files of release ${release.number}`}
      class="lines-s"
      columns={[
        'File',
        'For',
        { name: 'Records', isNumber: true },
        { name: 'Size', isNumber: true },
        'SHA-256',
        'Download',
      ]}
    >
      {release.files.map((file) => (
        <FileRow key={file.name} file={file} release={release.number} />
      ))}
    </Table>
  )
}

function FileRow({ file, release }: { file: ReleaseFile; release: number }) {
  const [state, setState] = useState('')
  const start = async () => {
    setState('Reading: 0 %')
    try {
      const sha256 = await downloadFile(file, release, (percent) => setState(`Reading: ${percent} %`))
      setState(`Complete and unaltered: SHA-256 ${sha256.slice(0, 12)}…`)
    } catch (error) {
      signInIfEnded(error)
      setState(
        error instanceof Damaged
          ? 'Damaged: the SHA-256 differs from the published one. Nothing was saved.'
          : `Not downloaded: ${(error as Error).message}`,
      )
    }
  }
  const kind = Object.keys(FOR).find((name) => file.name.includes(`.${name}`)) ?? ''
  return (
    <tr>
      <th scope="row">{file.name}</th>
      <td data-l="For">{FOR[kind]}</td>
      <td class="r" data-l="Records">
        {formatNumber(file.records)}
      </td>
      <td class="r" data-l="Size">
        {formatBytes(file.bytes)}
      </td>
      <td data-l="SHA-256">
        <code title={file.sha256}>{file.sha256.slice(0, 12)}…</code>
      </td>
      <td>
        <button
          class="btn s"
          type="button"
          aria-label={`Download and verify ${file.name}`}
          onClick={() => void start()}
        >
          <Icon name="download" /> Download
        </button>{' '}
        <span class="small" role="status">
          {state}
        </span>
      </td>
    </tr>
  )
}
