// The package in Chromium: cases of the vectors, played by the scripted server, with the fetch and the streams of a browser.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { openBrowser, skip } from '../../../../test/journeys/http/browser.ts'
import { bodyOf, readVectors, vectors } from '../vectors.ts'

const root = path.resolve(import.meta.dirname, '../..')

interface Case {
  name: string
  needs?: string
  call: {
    verb: string
    release?: number
    filters?: object
    cursor?: string
    as_of?: string
    have?: object
    format?: string
  }
  expect: {
    ids?: number[]
    ids_before_error?: number[]
    file?: string | null
    error?: { class: string; code: string }
  }
}
/** What a page can read: walks, lines, and downloads without a file system. */
const cases = (readVectors('exchanges.json') as { cases: Case[] }).cases.filter(
  ({ call, needs }) =>
    needs === undefined &&
    (['records', 'records_file'].includes(call.verb) || (call.verb === 'download' && call.have === undefined)),
)

let server: ChildProcess
let browser: Browser
let page: Page
let address = ''
const built = mkdtempSync(path.join(os.tmpdir(), 'outbreaks-package-'))
after(() => rmSync(built, { recursive: true, force: true }))

before(async () => {
  if (skip !== false) return
  const compiler = path.resolve(root, '../../node_modules/@typescript/native/bin/tsc')
  execFileSync(process.execPath, [compiler, '-p', root, '--outDir', built], { stdio: 'inherit' })
  server = spawn(process.execPath, [path.join(vectors, 'server.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  address = line.toString().trim()
  browser = await openBrowser()
  page = await browser.newPage()
  await page.route('**/package/*', (route) =>
    route.fulfill({
      contentType: 'text/javascript',
      body: readFileSync(path.join(built, path.basename(route.request().url())), 'utf8'),
    }),
  )
  await page.goto(`${address}/cases`)
})
after(async () => {
  await browser?.close()
  server?.kill()
})

interface Outcome {
  ids: number[]
  bytes: number | null
  error: { class: string; code: string } | null
}

/** Runs in the page. */
async function callInPage({ name, call, origin }: Case & { origin: string }): Promise<Outcome> {
  const specifier = '/package/client.js'
  const { Outbreaks } = (await import(specifier)) as typeof import('../../src/client.ts')
  const baseUrl = `${origin}/cases/${name}`
  const given = new Outbreaks({ baseUrl, clientId: 'client', clientSecret: 'secret' })
  const client = call.as_of === undefined ? given : given.asOf(call.as_of)
  const parameters = { ...call.filters, ...(call.release === undefined ? {} : { release: call.release }) } as object
  const outcome: Outcome = { ids: [], bytes: null, error: null }
  try {
    if (call.verb === 'download') {
      const download = await client.download(call.format ?? '', parameters)
      // A Response of the stream would hide the error behind a TypeError of the browser.
      const reader = download.stream().getReader()
      let bytes = 0
      for (let part = await reader.read(); !part.done; part = await reader.read()) bytes += part.value.length
      outcome.bytes = bytes
    } else if (call.verb === 'records') {
      for await (const { id } of client.records(parameters, { cursor: call.cursor })) outcome.ids.push(id)
    } else {
      for await (const line of client.recordLines(parameters)) outcome.ids.push((JSON.parse(line) as { id: number }).id)
    }
  } catch (error) {
    const { name: className, code } = error as { name: string; code: string }
    outcome.error = { class: className, code }
  }
  return outcome
}

for (const one of cases) {
  test(`${one.name} in a browser`, { skip }, async () => {
    const { ids, bytes, error } = await page.evaluate(callInPage, { ...one, origin: address })
    const { expect } = one
    assert.deepEqual(error, expect.error === undefined ? null : { class: expect.error.class, code: expect.error.code })
    if (expect.ids !== undefined) assert.deepEqual(ids, expect.ids)
    if (expect.ids_before_error !== undefined) assert.deepEqual(ids, expect.ids_before_error)
    if (expect.file) assert.equal(bytes, bodyOf(expect.file).length)
    const report = (await (await fetch(`${address}/cases/${one.name}`)).json()) as { passed: boolean }
    assert.ok(report.passed, JSON.stringify(report, null, 1))
  })
}
