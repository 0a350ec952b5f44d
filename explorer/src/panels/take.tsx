// What is on the screen as a program in four languages, as a notebook and as files, with its citation. Each names the release.
import { useState } from 'preact/hooks'
import type { Release } from '../../../clients/typescript/src/client.ts'
import { formatAddress, LANGUAGES, TAKEN, type View } from '../address.ts'
import { signInIfEnded } from '../ask.ts'
import { coverageInterval } from '../forms.ts'
import { Select } from '../parts/choose.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { isRefusedBy } from '../refusal.ts'
import { coverageParameters, filtersOf, type Parameters, seriesParameters, sumsParameters, toKey } from '../requests.ts'
import { address, question, setView, view } from '../state.ts'
import { downloadCsv } from '../take/download.ts'
import { type Link, makeLink } from '../take/link.ts'
import { writeNotebook } from '../take/notebook.ts'
import { saveBlob } from '../take/save-blob.ts'
import { writeSnippets } from '../take/snippets.ts'
import type { Shown } from '../use-event.ts'
import { CitePanel } from './cite.tsx'
import { FilesTable } from './files.tsx'
import { Downloads } from './records-table.tsx'

const PARTS = { series: 'the curve', sums: 'the places', coverage: 'the coverage' } as const
const NAMES = { curl: 'curl', python: 'Python', r: 'R', typescript: 'TypeScript' } as const

type Taken = View['taken']

interface TakenRequest {
  readonly verb: Taken
  readonly parameters: Parameters
  /** The parts of the page that can be taken. */
  readonly offered: readonly Taken[]
}

/** What the page draws, as a request. With the counts side by side there are no places. */
export function requestTaken(
  shown: Pick<Shown, 'interval' | 'places' | 'chosen'>,
  release: number,
  side: boolean,
): TakenRequest {
  const { taken, group } = view.value
  const offered: readonly Taken[] = side ? TAKEN.filter((part) => part !== 'sums') : TAKEN
  const verb = offered.includes(taken) ? taken : 'series'
  const requests: Record<Taken, () => Parameters> = {
    series: () => seriesParameters(question.value, { interval: shown.interval, group, side }, release),
    sums: () => sumsParameters(shown.chosen, shown.places ?? 'country_code', release),
    coverage: () =>
      coverageParameters(
        question.value,
        shown.places === 'al1_code' ? 'al1_code' : 'country_code',
        coverageInterval(shown.interval),
        release,
      ),
  }
  return { verb, parameters: requests[verb](), offered }
}

interface TakeProps {
  readonly title: string
  readonly shown: Shown
  readonly current: Release
}

export function TakePanel({ title, shown, current }: TakeProps) {
  const request = requestTaken(shown, current.number, view.value.side || isRefusedBy(shown.answer.error))
  const { verb, parameters } = request
  const filters = filtersOf(question.value)
  // Without a chosen release the link follows the newest one.
  const isPinned = view.value.release !== null
  const table: Parameters = [...parameters.filter(([name]) => isPinned || name !== 'release'), ['format', 'csv']]
  return (
    <div class="cols take-cols">
      <div class="c8">
        <Code title={title} request={request} current={current} />
        <section class="section" aria-labelledby="file">
          <div class="section-head">
            <h2 id="file">As a file</h2>
            <p>What is drawn, all records of this question, or the whole release.</p>
          </div>
          <ul class="rows two">
            <li>
              <span>
                <b>What is drawn</b>
                <br />
                <small class="quiet">the numbers of {PARTS[verb]}, and what to know about them</small>
              </span>
              <Csv path={`${verb}?${toKey(parameters)}`} name={`${verb}-${current.number}.csv`} />
            </li>
            <li>
              <span>
                <b>In a spreadsheet</b>
                <br />
                <small class="quiet">
                  an address for Excel, Google Sheets or R that opens these numbers
                  {isPinned ? '' : ', of the latest release each time'}; anyone who has it can read them
                </small>
              </span>
              <LinkButton key={toKey(table)} use="a spreadsheet" resource={verb} parameters={table} />
            </li>
            <li>
              <span>
                <b>In a feed reader</b>
                <br />
                <small class="quiet">tells you when a release changes these numbers, by how much and why</small>
              </span>
              <LinkButton key={toKey(filters)} use="a feed reader" resource="feed" parameters={filters} />
            </li>
            <li>
              <span>
                <b>All records of this question</b>
                <br />
                <small class="quiet">every report with its source; complete, or not saved</small>
              </span>
              <span class="group">
                <Downloads release={current.number} />
              </span>
            </li>
          </ul>
          <FilesTable release={current} />
        </section>
      </div>
      <div class="c4">
        <CitePanel release={current} />
      </div>
    </div>
  )
}

interface CodeProps {
  readonly title: string
  readonly request: TakenRequest
  readonly current: Release
}

export function Code({ title, request: { verb, parameters, offered }, current }: CodeProps) {
  const { code } = view.value
  const snippets = writeSnippets(location.origin, verb, parameters)
  const pinned = { ...address.value, tab: 'overview' as const, view: { ...view.value, release: current.number } }
  return (
    <section aria-labelledby="take">
      <div class="section-head">
        <h2 id="take">As a program</h2>
        {offered.length > 1 && (
          <Select
            label="What"
            value={verb}
            options={offered}
            names={PARTS}
            onChoose={(part) => setView({ taken: part }, { replaces: true })}
          />
        )}
        <p>Gives exactly the numbers on the screen, today and in ten years: the release is part of the question.</p>
      </div>
      <div class="codebox">
        <div class="code-head">
          <Tabs
            label="Language"
            panel="code"
            value={code}
            options={LANGUAGES}
            names={NAMES}
            onChoose={(name) => setView({ code: name }, { replaces: true })}
          />
          <span class="group">
            <button
              class="btn s"
              type="button"
              onClick={() =>
                saveBlob(
                  new Blob(
                    [writeNotebook({ title, link: location.origin + formatAddress(pinned), code: snippets.python })],
                    {
                      type: 'application/x-ipynb+json',
                    },
                  ),
                  `${verb}-${current.number}.ipynb`,
                )
              }
            >
              <Icon name="download" /> Notebook
            </button>
            <CopyButton text={snippets[code]} label="Copy" class="s" />
          </span>
        </div>
        <pre id="code" role="tabpanel" tabIndex={0} aria-labelledby={`code-${code}`}>
          {snippets[code]}
        </pre>
      </div>
    </section>
  )
}

interface LinkButtonProps {
  /** For what: "a spreadsheet". */
  readonly use: string
  readonly resource: string
  readonly parameters: Parameters
}

function LinkButton({ use, resource, parameters }: LinkButtonProps) {
  const [link, setLink] = useState<Link | null>(null)
  const [state, setState] = useState('')
  const start = async () => {
    setState('')
    try {
      const made = await makeLink(resource, parameters)
      setLink(made)
      // Where the browser does not allow it, the address is there to be copied.
      const isCopied = await navigator.clipboard.writeText(made.url).then(
        () => true,
        () => false,
      )
      setState(`${isCopied ? 'Copied.' : 'Copy it from here.'} It works until ${made.until}.`)
    } catch (error) {
      signInIfEnded(error)
      setState(`No link: ${(error as Error).message}`)
    }
  }
  return (
    <span class="group">
      <button class="btn" type="button" onClick={() => void start()}>
        <Icon name={link === null ? 'copy' : 'check'} /> Copy link for {use}
      </button>
      {link !== null && (
        <input class="input" type="text" readOnly aria-label={`The link for ${use}`} value={link.url} />
      )}
      <span class="small" role="status">
        {state}
      </span>
    </span>
  )
}

function Csv({ path, name }: { path: string; name: string }) {
  const [state, setState] = useState('')
  const start = async () => {
    setState('Asking …')
    try {
      await downloadCsv(path, name)
      setState('Saved.')
    } catch (error) {
      signInIfEnded(error)
      setState(`Not downloaded: ${(error as Error).message}`)
    }
  }
  return (
    <span class="group">
      <button class="btn primary" type="button" onClick={() => void start()}>
        <Icon name="download" /> CSV
      </button>
      <span class="small" role="status">
        {state}
      </span>
    </span>
  )
}
