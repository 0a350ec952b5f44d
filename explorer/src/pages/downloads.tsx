// The files of a release. The browser compares the SHA-256 before it saves a file.
import { useState } from 'preact/hooks'
import { Damaged, type Release, type ReleaseFile } from '../../../clients/typescript/src/client.ts'
import { formatBytes, formatNumber, texts } from '../texts.ts'
import { downloadFile } from '../verify-file.ts'

export function DownloadsPage({ current }: { current: Release }) {
  const { columns, title } = texts.download
  return (
    <section class="wide" aria-labelledby="files">
      <h1 id="files">{title(current.number)}</h1>
      <div class="scroll" tabIndex={0} role="group" aria-label={title(current.number)}>
        <table>
          <thead>
            <tr>
              {Object.entries(columns).map(([name, text]) => (
                <th key={name} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {current.files.map((file) => (
              <FileRow key={file.name} file={file} release={current.number} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function FileRow({ file, release }: { file: ReleaseFile; release: number }) {
  const [state, setState] = useState('')
  const { download } = texts
  const start = async () => {
    setState(download.reading(0))
    try {
      const sha256 = await downloadFile(file, release, (percent) => setState(download.reading(percent)), AbortSignal.timeout(3_600_000))
      setState(download.whole(sha256))
    } catch (error) {
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
