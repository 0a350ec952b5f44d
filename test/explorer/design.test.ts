// What the design promises. Ten things that people come for, each from the start page in at most four actions, with the pointer and with the keyboard. An
// action is a click, a text that is typed, or a key. TASKS=accept writes their pictures to docs/images/tasks.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Locator, Page } from 'playwright-core'
import type { Sums } from '../../clients/typescript/src/client.ts'
import { withExplorer } from '../fixtures/explorer/explorer.ts'
import {
  chartOf,
  defineJourneys,
  type Journey,
  MEASLES,
  placesOf,
  stageOf,
  waitUntilShown,
  write,
} from '../fixtures/explorer/journey.ts'
import { PAGE_STATES } from '../fixtures/explorer/pages.ts'

const MOST_ACTIONS = 4
const PICTURES = path.resolve(import.meta.dirname, '../../docs/images/tasks')

/** What a person does. Tab only moves to where they act, and is not counted. */
interface Person {
  /** Writes into the search of the page and takes the result: a text and a key, or a text and a click. */
  find(text: string, result: RegExp): Promise<void>
  use(control: Locator): Promise<void>
  readonly actions: number
}

const withPointer = (page: Page): Person => {
  let actions = 0
  return {
    async find(text, result) {
      await page.getByRole('combobox', { name: 'Find a disease' }).fill(text)
      await page.getByRole('option', { name: result }).first().click()
      actions += 2
      await waitUntilShown(page)
    },
    async use(control) {
      await control.click()
      actions += 1
      await waitUntilShown(page)
    },
    get actions() {
      return actions
    },
  }
}

/** Every control is reached by Tab, so that one that cannot be reached fails. */
const withKeyboard = (page: Page): Person => {
  let actions = 0
  const MOST_TABS = 150
  async function reach(control: Locator): Promise<void> {
    await control.waitFor()
    for (let i = 0; i < MOST_TABS; i++) {
      if ((await control.and(page.locator(':focus')).count()) > 0) return
      await page.keyboard.press('Tab')
    }
    assert.fail('the control cannot be reached by Tab')
  }
  return {
    async find(text, result) {
      await page.keyboard.press('/')
      await page.keyboard.type(text)
      await page.getByRole('option', { name: result }).first().waitFor()
      for (let i = 0; i < 12; i++) {
        const chosen = (await page.locator('[role=option][aria-selected=true]').textContent()) ?? ''
        if (result.test(chosen)) break
        await page.keyboard.press('ArrowDown')
      }
      await page.keyboard.press('Enter')
      actions += 2
      await waitUntilShown(page)
    },
    async use(control) {
      await reach(control)
      await page.keyboard.press((await control.getAttribute('role')) === 'radio' ? 'Space' : 'Enter')
      actions += 1
      await waitUntilShown(page)
    },
    get actions() {
      return actions
    },
  }
}

interface Task {
  readonly name: string
  readonly file: string
  work(person: Person, journey: Journey): Promise<void>
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first()
const findMeasles = (person: Person) => person.find('measles united', /Measles, United States, 2025/)

const TASKS: readonly Task[] = [
  {
    name: 'Find measles in the United States',
    file: 'curve',
    async work(person, { page }) {
      await findMeasles(person)
      await heading(page, 'Measles, United States, 2025').waitFor()
    },
  },
  {
    name: 'See its curve',
    file: 'curve',
    async work(person, { page }) {
      await findMeasles(person)
      assert.equal(await chartOf(page).locator('rect.column').count(), 51)
    },
  },
  {
    name: 'See its states',
    file: 'curve',
    async work(person, { page, ask }) {
      await findMeasles(person)
      const { data } = await ask<Sums>(`/sums?${MEASLES}&group_by=al1_code`)
      const texas = data.find(({ group }) => group['al1_code'] === 'US-TX')
      await placesOf(page).getByText('Texas').first().waitFor()
      assert.match(await placesOf(page).innerText(), new RegExp(`Texas\\s+${write(texas?.total.cases ?? null)}`))
    },
  },
  {
    name: 'See what changed',
    file: 'changes',
    async work(person, { page }) {
      await findMeasles(person)
      await person.use(page.getByRole('link', { name: 'Changes', exact: true }))
      await page.locator('.what tbody tr').first().waitFor()
    },
  },
  {
    name: 'Compare Italy with Spain',
    file: 'compare',
    async work(person, { page }) {
      await person.use(link(page, 'Compare'))
      await person.use(link(page, /COVID-19, worldwide, 2019, by country/))
      await person.use(page.getByRole('button', { name: 'Italy', exact: true }))
      await person.use(page.getByRole('button', { name: 'Spain', exact: true }))
      await heading(page, 'COVID-19: Italy, Spain').waitFor()
      assert.deepEqual((await stageOf(page).locator('text.end').allTextContents()).toSorted(), ['Italy', 'Spain'])
    },
  },
  {
    name: 'All outbreaks in Bangladesh',
    file: 'country',
    async work(person, { page, ask }) {
      await person.find('bangladesh', /^Bangladesh/)
      await heading(page, 'Bangladesh').waitFor()
      const { data } = await ask<{ data: unknown[] }>('/events?country_code=BD&num=100')
      assert.equal(await page.locator('main tbody tr').count(), data.length)
    },
  },
  {
    name: 'Nipah by outbreak, with its deaths',
    file: 'disease',
    async work(person, { page, ask }) {
      await person.find('nipah', /^Nipah virus infection/)
      const { data } = await ask<{ data: { headline: { deaths: number | null } | null }[] }>(
        `/events${new URL(page.url()).search}&num=100`,
      )
      const cells = await page.locator('main tbody td[data-l=Deaths]').allTextContents()
      assert.ok(data.length > 1)
      assert.deepEqual(cells.toSorted(), data.map(({ headline }) => write(headline?.deaths ?? null)).toSorted())
    },
  },
  {
    name: 'Get the CSV of a curve',
    file: 'csv',
    async work(person, { page }) {
      await findMeasles(person)
      await person.use(page.getByRole('link', { name: 'Use this data', exact: true }).first())
      const download = page.waitForEvent('download')
      await person.use(page.getByRole('button', { name: /CSV/ }).first())
      const file = await readFile(await (await download).path(), 'utf8')
      assert.match(file.split('\n')[0] ?? '', /period/)
      assert.ok(file.split('\n').length > 50)
    },
  },
  {
    name: 'Cite it',
    file: 'cite',
    async work(person, { page }) {
      await findMeasles(person)
      await person.use(page.getByRole('button', { name: 'Cite' }))
      await page
        .getByText(/Measles, United States, 2025.*Release 6/i)
        .first()
        .waitFor()
    },
  },
  {
    name: 'The same figure as known two releases ago',
    file: 'earlier',
    async work(person, { page, ask }) {
      await findMeasles(person)
      await person.use(page.locator('.stops button').nth(-3))
      await page
        .getByText(/You see release 4/)
        .first()
        .waitFor()
      const { data } = await ask<Sums>(`/sums?${MEASLES}&release=4`)
      assert.equal(await page.locator('.kpi .v').first().innerText(), write(data[0]?.total.cases ?? null))
    },
  },
]

/** In the page: the visible texts that are smaller than 13 pixels. */
const FIND_SMALL_TEXT = `[...document.querySelectorAll('body *')]
  .filter((element) => element.getClientRects().length > 0 && [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== ''))
  .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 13)
  .map((element) => getComputedStyle(element).fontSize + ' ' + element.textContent.slice(0, 40))`

/** In the page: names at the ends of lines that cover each other. */
const FIND_COVERED_ENDS = `(() => {
  const boxes = [...document.querySelectorAll('.stage text.end')].map((text) => text.getBoundingClientRect())
  return boxes.filter((box, i) => boxes.slice(i + 1).some((other) => Math.abs(box.top - other.top) < box.height * 0.8)).length
})()`

await withExplorer({}, (explorer) => {
  const journey = defineJourneys(explorer)
  for (const { name, file, work } of TASKS)
    for (const [how, be] of [
      ['pointer', withPointer],
      ['keyboard', withKeyboard],
    ] as const)
      journey(`${name}, with the ${how}`, async (given) => {
        await given.open('/explore')
        const person = be(given.page)
        await work(person, given)
        assert.ok(person.actions <= MOST_ACTIONS, `${person.actions} actions`)
        if (process.env['TASKS'] !== 'accept' || how === 'keyboard') return
        mkdirSync(PICTURES, { recursive: true })
        await given.page.screenshot({ path: path.join(PICTURES, `${file}.png`) })
      })

  for (const state of PAGE_STATES.filter(({ isPublic }) => isPublic !== true))
    journey(`${state.name}: no text is smaller than 13 pixels, and nothing moves`, async ({ page, open }) => {
      await open(state.address)
      assert.deepEqual(await page.evaluate<string[]>(FIND_SMALL_TEXT), [])
      // The context asks for reduced motion.
      assert.equal(await page.evaluate<number>('document.getAnimations().length'), 0)
    })

  journey('every control that is reached by Tab has a ring of 3 pixels', async ({ page, open }) => {
    await open('/explore/events/Measles_United_States_2025')
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab')
      const ring = await page.evaluate<string>(
        `(() => {
          const { activeElement } = document
          const { outlineStyle, outlineWidth } = getComputedStyle(activeElement.closest('.combo-box') ?? activeElement)
          return outlineStyle + ' ' + outlineWidth + ' ' + activeElement.outerHTML.slice(0, 80)
        })()`,
      )
      assert.match(ring, /^solid 3px/)
    }
  })

  journey('lines have their names at their ends, no legend, and no name covers another', async ({ page, open }) => {
    await open('/explore/compare?event=COVID-19_Global_2019&group=country_code&release=6')
    assert.equal(await stageOf(page).locator('text.end').count(), 6)
    assert.equal(await page.evaluate<number>(FIND_COVERED_ENDS), 0)
    assert.equal(await stageOf(page).locator('.legend').count(), 0)
  })

  const onPhone = defineJourneys(explorer, { viewport: { width: 390, height: 844 } })
  onPhone(
    'on a phone title, figures and the line above the picture are on the first screen',
    async ({ page, open }) => {
      await open('/explore/events/Measles_United_States_2025?release=6')
      for (const part of [page.locator('h1'), page.locator('.kpi .v').first(), page.locator('.shown p').first()]) {
        const { y, height } = (await part.boundingBox()) ?? assert.fail()
        assert.ok(y + height <= 844, `ends at ${y + height}`)
      }
    },
  )
})
