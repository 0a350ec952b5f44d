// Watching a question from its page, with a node, a notifier and a receiver that run: preview, test delivery, create, a release that
// touches it, pause and delete. Guests are told to sign in, and without a notifier nothing is offered.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { type Credentials, outbreakctl, startService } from '../../dev/service.ts'
import { enterCredentials, watch, withExplorer } from '../fixtures/explorer/explorer.ts'
import { defineJourneys, eventPage, MEASLES, waitUntilShown } from '../fixtures/explorer/journey.ts'
import { openWatches } from '../fixtures/explorer/watches.ts'
import { createCertificates } from '../fixtures/watches/certificates.ts'
import { startReceiver } from '../fixtures/watches/receiver.ts'
import { until } from '../fixtures/watches/run-notifier.ts'

const certificates = createCertificates()
after(certificates.remove)
const receiver = await startReceiver(certificates)
after(receiver.close)
const typesReceived = () => receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Watch this' })
const noticesOf = (page: Page) => page.locator('.notice')
/** What the preview of the dialog shows, the latest release first. */
async function readPreview(page: Page, releases: number): Promise<string[]> {
  await dialogOf(page).getByText(`about ${releases} of the last 4 releases`).waitFor()
  return noticesOf(page).locator('.moved').allTextContents()
}

interface Body {
  readonly data: readonly { readonly id: string; readonly question: string; readonly when: string }[]
}

const variables = { OUTBREAKS_WEBHOOK_ORIGINS: receiver.origin, NODE_EXTRA_CA_CERTS: certificates.authorityFile }
await withExplorer({ notifier: variables }, (explorer) => {
  const journey = defineJourneys(explorer)
  let ask: Awaited<ReturnType<typeof openWatches>>
  before(async () => {
    ask = await openWatches(explorer)
    await ask('POST', 'endpoints', { url: `${receiver.origin}/hook` })
  })

  journey('a person watches an event, a release touches it, and the list says so', async ({ page, open }) => {
    await open(eventPage(MEASLES))
    await page.getByRole('button', { name: 'Watch this' }).click()
    const dialog = dialogOf(page)

    // The preview is what the same condition would have said, with the figures before and after.
    assert.deepEqual(await readPreview(page, 4), [
      'Cases 2,075 → 2,213 (+138)',
      'Cases 1,410 → 2,075 (+665)',
      'Cases 1,125 → 1,410 (+285)',
      'Cases not known → 1,125 ',
    ])
    await dialog.getByLabel('moves by at least').fill('300')
    assert.deepEqual(await readPreview(page, 2), ['Cases 1,410 → 2,075 (+665)', 'Cases not known → 1,125 '])
    await dialog.getByRole('radio', { name: /^A correction touches it/ }).check()
    assert.equal((await readPreview(page, 3)).length, 3)
    await dialog.getByRole('radio', { name: /^A count crosses a value/ }).check()
    await dialog.getByText('Type a whole number').waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Create watch' }).isDisabled())
    await dialog.getByLabel('crosses', { exact: true }).fill('1,5')
    await dialog.getByText('Type a whole number').waitFor()
    await dialog.getByLabel('crosses', { exact: true }).fill('2250')
    assert.deepEqual(await readPreview(page, 1), ['Cases not known → 1,125 '])

    await dialog.getByRole('combobox', { name: 'Deliver to' }).selectOption({ index: 1 })
    await dialog.getByRole('button', { name: 'Send a test' }).click()
    await dialog.getByText('Delivered: the receiver returned 200').waitFor()
    assert.deepEqual(typesReceived(), ['endpoint.test'])
    await dialog.getByRole('button', { name: 'Create watch' }).click()
    await dialog.getByText('It says something about the releases after release 5.').waitFor()
    const { data } = await ask<Body>('GET', 'watches')
    assert.deepEqual(
      data.map(({ question, when }) => [question, when]),
      [['counts=cases&event=Measles_United_States_2025', 'crosses:cases:2250']],
    )
    await dialog.getByRole('link', { name: 'Your watches' }).click()
    await page.getByText('It said nothing yet.').waitFor()
    await page.getByText('Cases: reaches 2,250, or falls below').waitFor()

    await explorer.publishLast()
    await until(() => (typesReceived().includes('question.crossed') ? true : undefined), 'the webhook')
    await open('/explore/watches')
    await noticesOf(page).waitFor()
    const notice = await noticesOf(page).innerText()
    assert.match(notice, /Release 6/)
    assert.match(notice, /Reached 2,250/)
    assert.match(notice, /Cases 2,213 → 2,286/)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    await open('/explore/watches')
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Watching', { exact: true }).waitFor()

    // What it said leads to the comparison of the two releases.
    await page.getByRole('link', { name: 'Release 6' }).click()
    await page.waitForURL((url) => url.pathname.endsWith('/changes') && url.searchParams.get('compare') === '5')
    await open('/explore/watches')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Keep' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Delete it with its notices?').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'You watch nothing yet' }).waitFor()
    assert.deepEqual((await ask<Body>('GET', 'watches')).data, [])
  })

  journey('with the keyboard: new events of a disease', async ({ page, open }) => {
    await open('/explore/events?disease=Measles')
    await page.getByRole('button', { name: 'Watch this' }).focus()
    await page.keyboard.press('Enter')
    const dialog = dialogOf(page)
    await dialog.getByRole('radio', { name: /^A new event matches/, checked: true }).focus()
    await noticesOf(page).first().waitFor()
    assert.match(await noticesOf(page).first().innerText(), /New: Measles, \w+/)
    await page.keyboard.press('ArrowDown')
    assert.ok(await dialog.getByRole('radio', { name: /^A correction touches it/ }).isChecked())
    await page.keyboard.press('ArrowUp')
    const create = dialog.getByRole('button', { name: 'Create watch' })
    for (let tab = 0; tab < 30 && (await create.and(page.locator(':focus')).count()) === 0; tab += 1)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await dialog.getByText('You watch Measles').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    const { data } = await ask<Body>('GET', 'watches')
    assert.deepEqual(
      data.map(({ question, when }) => [question, when]),
      [['disease=Measles', 'appears']],
    )
    for (const { id } of data) await ask('DELETE', `watches/${id}`)
  })

  journey('what the service refuses is said in the dialog', async ({ page, open }) => {
    const created: string[] = []
    for (let i = 0; i < 50; i += 1)
      created.push((await ask<{ id: string }>('POST', 'watches', { question: '', when: 'changes' })).id)
    await open(eventPage(MEASLES))
    await page.getByRole('button', { name: 'Watch this' }).click()
    await dialogOf(page).getByRole('button', { name: 'Create watch' }).click()
    await dialogOf(page).getByText('The client has 50 watches, which is the limit. Delete one first.').waitFor()
    await dialogOf(page).getByText('The watch was not created').waitFor()
    for (const id of created) await ask('DELETE', `watches/${id}`)
  })

  /** Another node, with a page of a browser that has not signed in. */
  async function visitNode(overrides: Record<string, string>, work: (page: Page, baseUrl: string) => Promise<void>) {
    const node = await startService(explorer.settings, overrides)
    const context = await explorer.browser.newContext()
    context.setDefaultTimeout(15_000)
    try {
      const page = await context.newPage()
      const { assertClean } = watch(page, node.baseUrl)
      await work(page, node.baseUrl)
      assertClean()
    } finally {
      await context.close()
      await node.stop()
    }
  }

  test('a guest is told to sign in with a client, and comes back to the same page', { timeout: 90_000 }, async () => {
    const visitor = await outbreakctl<Credentials>(explorer.settings, 'client', 'create', '--name', 'Visitor')
    const overrides = { OUTBREAKS_PUBLIC_CLIENT: visitor.client_id, OUTBREAKS_NOTIFIER_URL: 'http://127.0.0.1:9' }
    await visitNode(overrides, async (page, baseUrl) => {
      await page.goto(baseUrl + eventPage(MEASLES))
      await page.getByRole('button', { name: 'Continue as a guest' }).click()
      await page.getByRole('button', { name: 'Watch this' }).click()
      await dialogOf(page).getByText('you look around as a guest').waitFor()
      assert.equal(await dialogOf(page).getByRole('button', { name: 'Create watch' }).count(), 0)
      await dialogOf(page).getByRole('link', { name: 'Sign in' }).click()
      await enterCredentials(page, explorer.credentials)
      await page.waitForURL(baseUrl + eventPage(MEASLES))
    })
  })

  test('without a notifier there is no button and no page in the menu', { timeout: 90_000 }, () =>
    visitNode({}, async (page, baseUrl) => {
      await page.goto(baseUrl + eventPage(MEASLES))
      await enterCredentials(page, explorer.credentials)
      await page.waitForURL(baseUrl + eventPage(MEASLES))
      await waitUntilShown(page)
      assert.ok((await page.getByRole('button', { name: 'Copy link' }).count()) > 0)
      assert.equal(await page.getByRole('button', { name: 'Watch this' }).count(), 0)
      assert.equal(await page.getByRole('link', { name: 'Watches' }).count(), 0)
    }),
  )
})
