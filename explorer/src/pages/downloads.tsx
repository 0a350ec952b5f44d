// The files of a release, and the same in a shell.
import type { Release } from '../../../clients/typescript/src/client.ts'
import { FilesTable } from '../panels/files.tsx'
import { CopyButton } from '../parts/copy-button.tsx'

export function DownloadsPage({ current }: { current: Release }) {
  const [file] = current.files
  const commands =
    file === undefined
      ? ''
      : `curl -f -O -H "Authorization: Bearer $TOKEN" '${location.origin}/v2/hed-outbreaks/releases/${current.number}/files/${file.name}'\necho '${file.sha256}  ${file.name}' | sha256sum --check`
  return (
    <div class="wrap">
      <div class="head">
        <h1>Files of release {current.number}</h1>
        <p class="quiet">
          {current.title}. The browser compares the SHA-256 of a file with the published one before it is saved. A
          damaged file is not saved.
        </p>
      </div>
      <section class="section" aria-label="Files">
        <FilesTable release={current} />
      </section>
      {commands !== '' && (
        <section class="section" aria-labelledby="shell">
          <div class="section-head">
            <h2 id="shell">The same in a shell</h2>
            <CopyButton text={commands} label="Copy" class="s" />
          </div>
          <div class="codebox">
            <pre tabIndex={0}>{commands}</pre>
          </div>
        </section>
      )}
    </div>
  )
}
