// Whether everyone can use every page: axe (WCAG 2.2 AA), targets, text that is cut off, pictures with a table, colours.
// Each check is also run on a page with a planted fault, which it must report.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  addToPages,
  contrast,
  findCutOff,
  findSmallTargets,
  measureLuminances,
  readPicture,
} from '../fixtures/explorer/in-page.ts'
import { openState, PAGE_STATES, type PageState, WATCH_STATES } from '../fixtures/explorer/pages.ts'
import { addWatches, TRUSTED } from '../fixtures/explorer/watches.ts'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const SCHEMES = ['light', 'dark'] as const
const WIDTHS = [320, 390, 1400] as const
const DEFICIENCIES = ['protanopia', 'deuteranopia', 'tritanopia'] as const
const TIMEOUT_MS = 15_000
const STATES = [...PAGE_STATES, ...WATCH_STATES]
const [curve] = PAGE_STATES.filter(({ name }) => name === 'curve') as [PageState]

/** One line for each violation, with where it is. */
async function runAxe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}

/** In the page: words of the interface, outside code, addresses, file names and the list of all fields. */
const READ_IDENTIFIERS = `[...document.querySelectorAll('main *:not(script)')]
  .filter((element) => element.closest('pre, code, .cite, .fields, dd a, .failure, option, .table th') === null && element.getClientRects().length > 0)
  .flatMap((element) => [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data))
  .flatMap((text) => text.match(/\\b[a-z]+_[a-z_]+\\b|\\badmin[123]\\b/gi) ?? [])`

await withExplorer({ notifier: TRUSTED }, (explorer) => {
  before(() => addWatches(explorer))
  /** Contexts by their options: signing in once is enough. */
  const contexts = new Map<string, Promise<BrowserContext>>()
  after(async () => {
    for (const context of contexts.values()) await (await context).close()
  })

  async function openContext(options: BrowserContextOptions, isPublic: boolean): Promise<BrowserContext> {
    const context = isPublic ? await explorer.browser.newContext(options) : await explorer.signIn(options)
    context.setDefaultTimeout(TIMEOUT_MS)
    await addToPages(context)
    return context
  }

  /** Opens a state in a new tab for the time of a check. */
  async function withPage(
    state: PageState,
    options: BrowserContextOptions,
    check: (page: Page) => Promise<void>,
  ): Promise<void> {
    const key = JSON.stringify([options, state.isPublic])
    const context = contexts.get(key) ?? openContext(options, state.isPublic ?? false)
    contexts.set(key, context)
    const page = await (await context).newPage()
    try {
      await openState(page, explorer.baseUrl, state)
      await check(page)
    } finally {
      await page.close()
    }
  }

  for (const colorScheme of SCHEMES)
    for (const width of WIDTHS)
      for (const state of STATES)
        test(`${state.name}, ${colorScheme}, ${width} px: axe finds nothing, targets are large, nothing is cut off`, () =>
          withPage(state, { colorScheme, viewport: { width, height: 900 } }, async (page) => {
            assert.deepEqual(await runAxe(page), [])
            assert.deepEqual(await findSmallTargets(page), [])
            assert.deepEqual(await findCutOff(page), [])
          }))

  for (const state of STATES)
    test(`${state.name}: readable with forced colours, with 200 % zoom and with text twice as large`, async () => {
      await withPage(state, { forcedColors: 'active', viewport: { width: 1400, height: 900 } }, async (page) => {
        assert.deepEqual(await findCutOff(page), [])
        assert.deepEqual(await runAxe(page), [])
      })
      // A browser with a zoom of 200 % has half as many CSS pixels.
      await withPage(state, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }, async (page) => {
        assert.deepEqual(await findCutOff(page), [])
        await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
        assert.deepEqual(await findCutOff(page), [])
      })
    })

  for (const state of PAGE_STATES.filter(({ name }) => /^(?:curve|comparison|totals|compare)$/.test(name)))
    test(`${state.name}: the picture has a table with as many values`, () =>
      withPage(state, { viewport: { width: 1400, height: 900 } }, async (page) => {
        await page.locator('.stage-foot').getByRole('button', { name: 'Table' }).click()
        const { drawn, listed } = await readPicture(page)
        assert.ok(drawn > 0, 'nothing is drawn')
        assert.ok(listed >= drawn, `${listed} of ${drawn}`)
        // With its table open, the page is as accessible.
        assert.deepEqual(await runAxe(page), [])
      }))

  test('forced colours: bars and circles differ from the background, and a chosen button from the others', () =>
    withPage(curve, { forcedColors: 'active', viewport: { width: 1400, height: 900 } }, async (page) => {
      const [bar = 0, circle = 0, mark = 0, paper = 0] = await measureLuminances(page, ['b', 'dot', 'flag', 'hit'])
      for (const luminance of [bar, circle, mark]) assert.ok(contrast(luminance, paper) >= 3)
      const outlines = await page.evaluate<string[]>(
        `[...document.querySelectorAll('.stage-bar [role=radio]')].map((button) => getComputedStyle(button).outlineStyle)`,
      )
      assert.equal(new Set(outlines).size, 2)
    }))

  test('at no width between a phone and a large screen is the page wider than its window', () =>
    withPage(curve, { viewport: { width: 1400, height: 900 } }, async (page) => {
      for (let width = 320; width <= 1400; width += 40) {
        await page.setViewportSize({ width, height: 900 })
        assert.deepEqual(await findCutOff(page), [], `${width} px`)
      }
    }))

  test('on a phone the picture is on the first screen', () =>
    withPage(curve, { viewport: { width: 390, height: 844 } }, async (page) => {
      const { y, height } = (await page.locator('.stage [role=application]').boundingBox()) ?? assert.fail()
      assert.ok(y + height < 844, `the picture ends at ${y + height}`)
    }))

  test('on a screen of 900 pixels the foot of the curve is visible', () =>
    withPage(curve, { viewport: { width: 1400, height: 900 } }, async (page) => {
      const { y, height } = (await page.locator('.stage [role=application]').boundingBox()) ?? assert.fail()
      assert.ok(y + height < 900, `the picture ends at ${y + height}`)
    }))

  test('no identifier of the data is on the screen', { timeout: 120_000 }, async () => {
    for (const state of STATES)
      await withPage(state, { viewport: { width: 1400, height: 900 } }, async (page) => {
        const words = await page.evaluate<string[]>(READ_IDENTIFIERS)
        assert.deepEqual(words, [], state.name)
      })
  })

  const DEPTHS = ['cell q1', 'cell q2', 'cell q3', 'cell q4', 'cell q5']
  for (const colorScheme of SCHEMES)
    for (const deficiency of [...DEFICIENCIES, 'achromatopsia', 'none'] as const)
      test(`${colorScheme}, vision ${deficiency}: the classes of the coverage and the marks can be told apart`, () =>
        withPage(curve, { colorScheme, viewport: { width: 1400, height: 900 } }, async (page) => {
          const session = await page.context().newCDPSession(page)
          await session.send('Emulation.setEmulatedVisionDeficiency', { type: deficiency })
          const depths = await measureLuminances(page, DEPTHS)
          for (const [i, depth] of depths.slice(1).entries()) {
            const ratio = contrast(depth, depths[i] ?? depth)
            assert.ok(ratio >= 1.3, `depth ${i + 1} and ${i + 2} differ by ${ratio.toFixed(2)}:1`)
          }
          const [panel = 0, bar = 0, mark = 0] = await measureLuminances(page, ['hit', 'b', 'flag'])
          assert.ok(contrast(bar, panel) >= 3, `bars and the panel differ by ${contrast(bar, panel).toFixed(2)}:1`)
          assert.ok(contrast(mark, panel) >= 3, `marks and the panel differ by ${contrast(mark, panel).toFixed(2)}:1`)
        }))

  test('each check reports a planted fault', () =>
    withPage(curve, { viewport: { width: 1400, height: 900 } }, async (page) => {
      await page.evaluate(`document.querySelector('.combo label').remove()`)
      await page.evaluate(`document.querySelector('.combo input').removeAttribute('placeholder')`)
      await page.evaluate(`document.querySelector('.shown p').style.color = '#ddd'`)
      const found = (await runAxe(page)).map((line) => line.split(':')[0])
      assert.deepEqual(
        ['label', 'color-contrast'].filter((rule) => !found.includes(rule)),
        [],
      )

      const small = `document.querySelector('.head .btn')`
      await page.evaluate(`Object.assign(${small}.style, { minHeight: '0', height: '20px', padding: '0' })`)
      assert.equal((await findSmallTargets(page)).length, 1)

      const heading = `document.querySelector('h1')`
      await page.evaluate(
        `Object.assign(${heading}.style, { width: '2rem', overflow: 'hidden', whiteSpace: 'nowrap' })`,
      )
      assert.equal((await findCutOff(page)).length, 1)
      await page.evaluate(`document.body.style.width = '1500px'`)
      assert.match((await findCutOff(page))[0] ?? '', /^the page is 1500 of 1400 px wide/)

      await page.evaluate(`document.querySelector('.stage h2').textContent = 'count_kind'`)
      assert.deepEqual(await page.evaluate(READ_IDENTIFIERS), ['count_kind'])
    }))
})
