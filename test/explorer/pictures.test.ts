// Pictures of every page, in docs/images/explorer. PICTURES=accept writes them; otherwise a page must look as in its picture.
// Other fonts and another Chromium draw letters differently, so the pictures are compared only where both are the same.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import pixelmatch from 'pixelmatch'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import { openState, PAGE_STATES, type PageState, WATCH_STATES } from '../fixtures/explorer/pages.ts'
import { addWatches, TRUSTED } from '../fixtures/explorer/watches.ts'

const DIRECTORY = path.resolve(import.meta.dirname, '../../docs/images/explorer')
const ENVIRONMENT_FILE = path.join(DIRECTORY, 'environment.json')
const MAX_DIFFERENT_PIXELS = 20
const MAX_BYTES = 2_300_000
const TIMEOUT_MS = 15_000
const accepts = process.env['PICTURES'] === 'accept'

interface Shot {
  readonly file: string
  readonly state: PageState
  readonly options: BrowserContextOptions
  /** The whole page, not only what fits on the screen. */
  readonly isWhole: boolean
}

const DESKTOP = { width: 1400, height: 900 }
const PHONE = { width: 390, height: 844 }
const [curve] = PAGE_STATES.filter(({ name }) => name === 'curve') as [PageState]
/** The pages that look most different. */
const DRAWN =
  /^(?:start|curve|comparison|totals|single|compare|changes|use|events|releases|record|coverage|watch|watches)$/
const SHOTS: readonly Shot[] = [
  ...[...PAGE_STATES, ...WATCH_STATES]
    .filter(({ name }) => DRAWN.test(name))
    .map((state) => ({
      file: `${state.name}.png`,
      state,
      options: { viewport: DESKTOP },
      isWhole: state === curve,
    })),
  { file: 'curve-dark.png', state: curve, options: { viewport: DESKTOP, colorScheme: 'dark' }, isWhole: false },
  {
    file: 'curve-phone.png',
    state: curve,
    options: { viewport: PHONE, isMobile: true },
    isWhole: false,
  },
]

/**
 * Replaces what differs between two runs: the host, the day of publication and the ids of requests. Also digests, which a new
 * field changes.
 */
const MAKE_STABLE = `{
  const replace = (text) => text
    .replaceAll(location.origin, 'https://outbreaks.example')
    .replace(/(published) \\d{4}-\\d\\d-\\d\\d/i, '$1 2026-08-01')
    .replace(/(published) \\d+ \\w{3} \\d{4}/i, '$1 1 Aug 2026')
    .replace(/(request) [0-9a-f]{8}-[0-9a-f-]{27}/i, '$1 00000000-0000-4000-8000-000000000000')
    .replaceAll(/\\b[0-9a-f]{64}\\b/g, '0123456789abcdef'.repeat(4))
    .replace(/^[0-9a-f]{12}(…?)$/, '0123456789ab$1')
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const { currentNode: node } = texts
    const text = node.parentElement.dataset.l === 'Published' ? '1 Aug 2026' : replace(node.data)
    if (text !== node.data) node.data = text
  }
}`

/** What decides how letters are drawn. */
const readEnvironment = async (page: Page, version: string) => ({
  chromium: version,
  widths: await page.evaluate<number[]>(`['system-ui', 'monospace'].map((font) => {
    const context = document.createElement('canvas').getContext('2d')
    context.font = '100px ' + font
    return context.measureText('Outbreaks 0123456789 ▲◀●').width
  })`),
})

await withExplorer({ notifier: TRUSTED }, (explorer) => {
  before(() => addWatches(explorer))
  const contexts = new Map<string, Promise<BrowserContext>>()
  after(async () => {
    for (const context of contexts.values()) await (await context).close()
  })

  async function takePicture({ state, options, isWhole }: Shot) {
    const key = JSON.stringify([options, state.isPublic])
    const opened =
      contexts.get(key) ?? (state.isPublic ? explorer.browser.newContext(options) : explorer.signIn(options))
    contexts.set(key, opened)
    const page = await (await opened).newPage()
    page.setDefaultTimeout(TIMEOUT_MS)
    try {
      await openState(page, explorer.baseUrl, state)
      await page.evaluate(MAKE_STABLE)
      return {
        picture: await page.screenshot({ animations: 'disabled', caret: 'hide', fullPage: isWhole }),
        environment: await readEnvironment(page, explorer.browser.version()),
      }
    } finally {
      await page.close()
    }
  }

  for (const shot of SHOTS)
    test(`${shot.file}: the page looks as in its picture`, async (t) => {
      const { picture, environment } = await takePicture(shot)
      const file = path.join(DIRECTORY, shot.file)
      if (accepts) {
        mkdirSync(DIRECTORY, { recursive: true })
        writeFileSync(ENVIRONMENT_FILE, `${JSON.stringify(environment, null, 2)}\n`)
        return writeFileSync(file, compress(picture))
      }
      const recorded: unknown = JSON.parse(readFileSync(ENVIRONMENT_FILE, 'utf8'))
      if (JSON.stringify(recorded) !== JSON.stringify(environment))
        return t.skip(`drawn with another Chromium or another font: ${JSON.stringify(environment)}`)
      const different = countDifferentPixels(picture, readFileSync(file))
      if (different > MAX_DIFFERENT_PIXELS) writeFileSync(path.join(os.tmpdir(), shot.file), picture)
      assert.ok(
        different <= MAX_DIFFERENT_PIXELS,
        `${different} pixels differ from docs/images/explorer/${shot.file}; PICTURES=accept writes it anew. This run: ${path.join(os.tmpdir(), shot.file)}`,
      )
    })

  test('the comparison notices another colour, a shifted line and another size', () => {
    const width = 100
    const original = new PNG({ width, height: 50 })
    original.data.fill(255)
    const changed = PNG.sync.read(PNG.sync.write(original))
    // One line of 100 pixels.
    changed.data.fill(0, 4 * width * 10, 4 * width * 11)
    for (let i = 4 * width * 10 + 3; i < 4 * width * 11; i += 4) changed.data[i] = 255
    assert.equal(countDifferentPixels(PNG.sync.write(original), PNG.sync.write(original)), 0)
    assert.equal(countDifferentPixels(PNG.sync.write(changed), PNG.sync.write(original)), width)
    const taller = PNG.sync.write(new PNG({ width, height: 51 }))
    assert.equal(countDifferentPixels(taller, PNG.sync.write(original)), Number.POSITIVE_INFINITY)
  })

  test('docs/images/explorer has these pictures and no others, and is small', { skip: accepts }, () => {
    const files = readdirSync(DIRECTORY)
    assert.deepEqual(files.sort(), [...SHOTS.map(({ file }) => file), path.basename(ENVIRONMENT_FILE)].sort())
    const bytes = files.reduce((sum, file) => sum + statSync(path.join(DIRECTORY, file)).size, 0)
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`)
  })
})

/** Smaller than what the browser writes. */
const compress = (picture: Buffer): Buffer =>
  PNG.sync.write(PNG.sync.read(picture), { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 })

function countDifferentPixels(actual: Buffer, expected: Buffer): number {
  const [a, b] = [PNG.sync.read(actual), PNG.sync.read(expected)]
  if (a.width !== b.width || a.height !== b.height) return Number.POSITIVE_INFINITY
  return pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: 0.1 })
}
