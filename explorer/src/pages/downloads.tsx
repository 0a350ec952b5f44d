// The files of a release. The browser compares the SHA-256 before it saves a file.
import { useState } from 'preact/hooks'
import { Damaged, type Release, type ReleaseFile } from '../../../clients/typescript/src/client.ts'
import { signInIfEnded } from '../ask.ts'
import { downloadFile } from '../download.ts'
import { Table } from '../parts/table.tsx'
import { formatBytes, formatNumber, texts } from '../texts.ts'

export function DownloadsPage({ current }: { current: Release }) {
  const { columns, title } = texts.download
  return (
    <section class="wide" aria-labelledby="files">
      <h1 id="files">{title(current.number)}</h1>
      <Table label={title(current.number)} columns={Object.values(columns)}>
        {current.files.map((file) => (
          <FileRow key={file.name} file={file} release={current.number} />
        ))}
      </Table>
      {current.files.length === 0 && <p class="empty">{texts.download.none}</p>}
      {current.files.slice(0, 1).map(({ name, sha256 }) => (
        <div key={name}>
          <h2>{texts.download.commands}</h2>
          <pre tabIndex={0}>
            {writeCommands(
              `${location.origin}/v2/hed-outbreaks/releases/${current.number}/files/${name}`,
              name,
              sha256,
            )}
          </pre>
        </div>
      ))}
    </section>
  )
}

const writeCommands = (url: string, name: string, sha256: string) =>
  `curl -f -O -H "Authorization: Bearer $TOKEN" '${url}'\necho '${sha256}  ${name}' | sha256sum --check`

function FileRow({ file, release }: { file: ReleaseFile; release: number }) {
  const [state, setState] = useState('')
  const { download } = texts
  const start = async () => {
    setState(download.reading(0))
    try {
      const sha256 = await downloadFile(file, release, (percent) => setState(download.reading(percent)))
      setState(download.whole(sha256))
    } catch (error) {
      signInIfEnded(error)
      setState(error instanceof Damaged ? download.damaged : download.failed((error as Error).message))
    }
  }
  return (
    <tr>
      <th scope="row">{file.name}</th>
      <td class="number">{formatNumber(file.records)}</td>
      <td class="number">{formatBytes(file.bytes)}</td>
      <td>
        <code>{file.sha256}</code>
      </td>
      <td>
        <button type="button" onClick={() => void start()}>
          {download.verify(file.name)}
        </button>{' '}
        <span role="status">{state}</span>
      </td>
    </tr>
  )
}
