// A notebook with the same question: it installs nothing by itself, asks the service, and draws the curve. Pure.

interface NotebookOptions {
  readonly title: string
  readonly link: string
  readonly code: string
}

const cell = (kind: 'markdown' | 'code', text: string) => ({
  cell_type: kind,
  metadata: {},
  source: text.split('\n').map((line, i, lines) => (i === lines.length - 1 ? line : `${line}\n`)),
  ...(kind === 'code' ? { execution_count: null, outputs: [] } : {}),
})

export function writeNotebook({ title, link, code }: NotebookOptions): string {
  const cells = [
    cell(
      'markdown',
      `# ${title}\n\nThe same numbers as on [this page](${link}), today and later: the release is part of the question.\n\nInstall the client with \`pip install "outbreak-data[all]"\`, and set \`OUTBREAKS_URL\`, \`OUTBREAKS_CLIENT_ID\` and \`OUTBREAKS_CLIENT_SECRET\`.`,
    ),
    cell('code', code),
  ]
  return JSON.stringify(
    {
      cells,
      metadata: { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } },
      nbformat: 4,
      nbformat_minor: 4,
    },
    null,
    1,
  )
}
