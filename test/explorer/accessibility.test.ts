// Whether everybody can use every page: axe (WCAG 2.2 AA), targets, text that is cut off, pictures with a table, colours.
// Each check is also run on a page with a planted fault, which it must report.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  addToPages,
  contrast,
  findCutOff,
  findSmallTargets,
  measureLuminances,
  readPictures,
} from '../fixtures/explorer/in-page.ts'
import { openState, PAGE_STATES, type PageState } from '../fixtures/explorer/pages.ts'

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const SCHEMES = ['light', 'dark'] as const
const WIDTHS = [320, 1400] as const
const DEFICIENCIES = ['protanopia', 'deuteranopia', 'tritanopia'] as const
const TIMEOUT_MS = 15_000
const [curve] = PAGE_STATES.filter(({ name }) => name === 'curve') as [PageState]

/** One line for each violation, with where it is. */
async function runAxe(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(TAGS).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
}

await withExplorer({}, (explorer) => {
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
      for (const state of PAGE_STATES)
        test(`${state.name}, ${colorScheme}, ${width} px: axe finds nothing, targets are large, nothing is cut off`, () =>
          withPage(state, { colorScheme, viewport: { width, height: 900 } }, async (page) => {
            assert.deepEqual(await runAxe(page), [])
            assert.deepEqual(await findSmallTargets(page), [])
            assert.deepEqual(await findCutOff(page), [])
          }))

  for (const state of PAGE_STATES)
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

  for (const state of PAGE_STATES.filter(({ name }) => /curve|groups|sources|comparison|coverage/.test(name)))
    test(`${state.name}: every picture has a table or a list with as many values`, () =>
      withPage(state, { viewport: { width: 1400, height: 900 } }, async (page) => {
        const pictures = await readPictures(page)
        // The map of sources that disagree is refused.
        assert.equal(pictures.length, { coverage: 1, sources: 2 }[state.name] ?? 3)
        for (const { label, drawn, listed } of pictures) {
          assert.ok(drawn > 0, `${label}: nothing is drawn`)
          assert.equal(listed, drawn, label)
        }
        // With its tables open, the page is as accessible.
        assert.deepEqual(await runAxe(page), [])
      }))

  test('forced colours: bars and circles differ from the background, and a pressed button from the others', () =>
    withPage(curve, { forcedColors: 'active', viewport: { width: 1400, height: 900 } }, async (page) => {
      const [bar = 0, circle = 0, mark = 0, paper = 0] = await measureLuminances(page, [
        ...['bar', 'count', 'revision', 'hit'],
      ])
      for (const luminance of [bar, circle, mark]) assert.ok(contrast(luminance, paper) >= 3)
      const backgrounds = await page.evaluate(
        `[...document.querySelectorAll('.where button[aria-pressed]')].map((button) => getComputedStyle(button).backgroundColor)`,
      )
      assert.equal(new Set(backgrounds as string[]).size, 2)
    }))

  const DEPTHS = ['depth-1', 'depth-2', 'depth-3', 'depth-4', 'depth-5']
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
          const [panel = 0, bar = 0, partial = 0, mark = 0] = await measureLuminances(page, [
            ...['hit', 'bar', 'bar partial', 'revision'],
          ])
          assert.ok(contrast(bar, panel) >= 3, `bars and the panel differ by ${contrast(bar, panel).toFixed(2)}:1`)
          assert.ok(contrast(mark, panel) >= 3, `marks and the panel differ by ${contrast(mark, panel).toFixed(2)}:1`)
          assert.ok(contrast(bar, partial) >= 1.3, `bars differ by ${contrast(bar, partial).toFixed(2)}:1`)
        }))

  test('each check reports a planted fault', () =>
    withPage(curve, { viewport: { width: 1400, height: 900 } }, async (page) => {
      await page.evaluate(`document.querySelector('label[for=search]').remove()`)
      await page.evaluate(`document.querySelector('.guard').style.color = '#ddd'`)
      const found = (await runAxe(page)).map((line) => line.split(':')[0])
      assert.deepEqual(
        ['label', 'color-contrast'].filter((rule) => !found.includes(rule)),
        [],
      )

      const small = `document.querySelector('.choices button')`
      await page.evaluate(`Object.assign(${small}.style, { minHeight: '0', height: '20px', padding: '0' })`)
      assert.equal((await findSmallTargets(page)).length, 1)

      const heading = `document.querySelector('h2')`
      await page.evaluate(
        `Object.assign(${heading}.style, { width: '2rem', overflow: 'hidden', whiteSpace: 'nowrap' })`,
      )
      assert.equal((await findCutOff(page)).length, 1)
      await page.evaluate(`document.body.style.width = '1500px'`)
      assert.match((await findCutOff(page))[0] ?? '', /^the page is 1500 of 1400 px wide/)

      const [before] = await readPictures(page)
      await page.evaluate(`document.querySelector('.curve figure tbody tr').remove()`)
      const [picture] = await readPictures(page)
      assert.equal(picture?.listed, (before?.listed ?? 0) - 1)
      assert.notEqual(picture?.listed, picture?.drawn)
    }))
})
