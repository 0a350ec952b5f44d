// Embeds in a real browser, opened by link keys: who may show them, what the key opens, and the numbers of every event.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { AxeBuilder } from '@axe-core/playwright'
import { createLinkKey } from '../../src/auth/links/link-key.ts'
import { deriveKeys, toKeyObjects } from '../../src/platform/derive-key.ts'
import { obtainToken } from '../fixtures/api-client.ts'
import { settle, withExplorer } from '../fixtures/explorer/explorer.ts'
import { waitUntil } from '../fixtures/operate/program.ts'
import { LIVENESS_MS } from '../liveness.ts'

const HOME = '/v2/hed-outbreaks'
const CURVE = 'event=Measles_United_States_2025&interval=isoweek'
const SIDES = 'event=Lassa_Nigeria_2018'
const SINGLE = 'event=Acute_hepatitis_unknown_Global_2022'
const REFUSED = 'event=Lassa_Nigeria_2017'
const byText = (a = '', b = '') => a.localeCompare(b)
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** A page of another origin that shows an address in a frame. */
let framed = ''
const page = createServer((request, response) => {
  response.setHeader('content-type', 'text/html')
  response.end(
    `<!doctype html><title>a page</title><img src="${framed.replace('/embed?', '/picture?')}"><iframe src="${framed}" width="700" height="600"></iframe>`,
  )
  void request
})
await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
after(() => page.close())
const { port } = page.address() as AddressInfo
const [ALLOWED, FOREIGN] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`]

await withExplorer(
  {
    overrides: {
      OUTBREAKS_EMBED_ORIGINS: ALLOWED,
      OUTBREAKS_FAILED_ATTEMPTS: '0',
      OUTBREAKS_RATE_LIMIT: '0',
      OUTBREAKS_LOG_LEVEL: 'info',
    },
  },
  (explorer) => {
    const { baseUrl, browser, service, settings, credentials } = explorer
    let token = ''
    before(async () => {
      token = await obtainToken(credentials, `${baseUrl}/oauth/token`, baseUrl)
    })
    const bearer = () => ({ authorization: `Bearer ${token}` })
    const open = (address: string, headers: Record<string, string> = {}) =>
      fetch(address.startsWith('/') ? baseUrl + address : address, {
        headers,
        signal: AbortSignal.timeout(LIVENESS_MS),
      })
    async function link(address: string): Promise<string> {
      const response = await open(`${HOME}/link?url=${encodeURIComponent(address)}`, bearer())
      assert.equal(response.status, 200)
      return ((await response.json()) as { url: string }).url
    }
    const read = async <Body>(address: string) => (await (await open(address, bearer())).json()) as Body

    test('a link opens an embed without a session, and a picture', async () => {
      for (const query of [CURVE, SIDES, SINGLE, REFUSED])
        for (const resource of ['embed', 'picture']) {
          const address = `${HOME}/${resource}?${query}&release=6`
          const opened = await open(await link(address))
          assert.equal(opened.status, 200)
          assert.match(opened.headers.get('cache-control') ?? '', /^private/)
          assert.equal(opened.headers.get('referrer-policy'), 'no-referrer')
          const withToken = await (await open(address, bearer())).text()
          const text = await opened.text()
          assert.equal(text.replace(/<link rel="alternate"[^>]*>/, ''), withToken)
        }
    })

    test('a link cannot be widened, and ends', async () => {
      const url = await link(`${HOME}/embed?${CURVE}&release=6`)
      const key = url.split('key=')[1] ?? ''
      const others = [
        `${HOME}/embed?${CURVE}&key=${key}`,
        `${HOME}/embed?${CURVE}&release=5&key=${key}`,
        `${HOME}/embed?${CURVE}&release=6&kind=cumulative&key=${key}`,
        `${HOME}/embed?${CURVE}&release=6&theme=dark&key=${key}`,
        `${HOME}/embed?interval=isoweek&release=6&key=${key}`,
        `${HOME}/picture?${CURVE}&release=6&key=${key}`,
        `${HOME}/series?${CURVE}&release=6&key=${key}`,
        `/v2/other-dataset/embed?${CURVE}&release=6&key=${key}`,
        `${HOME}/embed?${CURVE}&release=6&key=${key.slice(0, -1)}`,
        `${HOME}/embed?${CURVE}&release=6`,
      ]
      for (const other of others) assert.ok([401, 404].includes((await open(other)).status), other)
      const keys = toKeyObjects(deriveKeys([Buffer.from(settings.secret, 'base64url')], 'link keys'))
      const client = { clientId: credentials.client_id, generation: 1 } as Parameters<typeof createLinkKey>[1]['client']
      const address = `${HOME}/embed?event=Measles_United_States_2025`
      const make = (expiry: number) => `${address}&key=${createLinkKey(keys, { client, address, expiry })}`
      const now = Math.floor(Date.now() / 1000)
      const statuses = [(await open(make(now + 60))).status, (await open(make(now - 1))).status]
      assert.deepEqual(statuses, [200, 401])
      const expired = await open(make(now - 1), { accept: 'text/html' })
      assert.match(await expired.text(), /The link expired on/)
      const keyless = await open(address, { accept: 'text/html' })
      assert.match(await keyless.text(), /The URL has no key/)
    })

    test('a page of a named origin shows the frame, any other does not; the picture is shown by both', async () => {
      framed = await link(`${HOME}/embed?${CURVE}&release=5`)
      const picture = await link(`${HOME}/picture?${CURVE}&release=5`)
      for (const [origin, isShown] of [
        [ALLOWED, true],
        [FOREIGN, false],
      ] as const) {
        const context = await browser.newContext()
        const shown = await context.newPage()
        const referrers: unknown[] = []
        shown.on('request', (request) => referrers.push(request.headers()['referer'] ?? ''))
        await shown.goto(origin)
        await shown.evaluate(
          `new Promise((done) => { const image = document.querySelector('img'); image.onload = done; image.src = ${JSON.stringify(picture)} })`,
        )
        assert.equal(await shown.evaluate(`document.querySelector('img').naturalWidth`), 800)
        const frame = shown.frames()[1]
        const heading = frame?.locator('h1')
        if (isShown) assert.equal(await heading?.textContent({ timeout: 10_000 }), 'Measles, United States, 2025')
        else {
          await shown.waitForLoadState('networkidle')
          assert.doesNotMatch((await heading?.textContent()) ?? '', /Measles/)
          assert.match(shown.frames()[1]?.url() ?? '', /^chrome-error:/)
        }
        // The frame itself sends nothing on.
        assert.ok(referrers.every((referrer) => !String(referrer).includes('key=')))
        await context.close()
      }
    })

    for (const address of [
      '/explore',
      '/explore/sign-in',
      '/',
      '/reference',
      `${HOME}/picture?${CURVE}`,
      `${HOME}/series?${CURVE}`,
      '/explore/assets/none',
      '/oauth/token',
    ])
      test(`no page can frame ${address}`, async () => {
        const policy = (await open(address, bearer())).headers.get('content-security-policy') ?? ''
        assert.match(policy, /frame-ancestors 'none'/)
      })

    for (const query of [CURVE, SIDES, SINGLE, REFUSED])
      for (const colorScheme of ['light', 'dark'] as const)
        test(`the embed of ${query} is accessible in ${colorScheme}, at three widths`, async () => {
          for (const width of [320, 640, 1200]) {
            const context = await browser.newContext({ viewport: { width, height: 700 }, colorScheme })
            const shown = await context.newPage()
            const errors: string[] = []
            shown.on('console', (message) => errors.push(message.text()))
            await shown.goto(await link(`${HOME}/embed?${query}&release=5`))
            assert.equal(await shown.locator('figure > svg:visible').count(), 1)
            assert.ok((await shown.evaluate<number>('document.documentElement.scrollWidth')) <= width)
            const { violations } = await new AxeBuilder({ page: shown }).withTags(TAGS).analyze()
            assert.deepEqual(
              violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`)),
              [],
            )
            assert.deepEqual(errors, [])
            await context.close()
          }
        })

    test('the pictures of all events have the numbers of the API', async () => {
      const { data: events } = await read<{ data: { event: string }[] }>(`${HOME}/events?num=1000`)
      const kinds = { curve: 0, totals: 0, single: 0, refused: 0 }
      for (const { event } of events) {
        const query = `event=${encodeURIComponent(event)}&release=6`
        const svg = await (await open(`${HOME}/picture?${query}`, bearer())).text()
        const bars = [...svg.matchAll(/<rect [^>]*><title>[^<]*: ([^<]*)<\/title>/g)].map(([, value]) => value)
        const answer = await open(`${HOME}/series?${query}&detail=full`, bearer())
        const sums = await open(`${HOME}/sums?${query}&detail=full`, bearer())
        if (svg.includes('No number is shown')) {
          assert.ok(answer.status === 400 || sums.status === 400, event)
          assert.doesNotMatch(svg, /font-size="18px"|font-size="52"/)
          kinds.refused++
          continue
        }
        const write = (value: number | null) =>
          value === null ? 'unknown' : value.toLocaleString('en').replace('-', '−')
        const isCurve =
          svg.includes(' by week<') ||
          svg.includes(' by day<') ||
          svg.includes(' by month<') ||
          svg.includes(' by year<')
        if (isCurve) {
          const { points, spans } = (await answer.json()) as Record<
            'points' | 'spans',
            { new: { cases: number | null } }[]
          >
          const known = spans.filter((span) => span.new.cases !== null)
          const expected = [...points, ...known].map((point) => write(point.new.cases))
          assert.deepEqual(bars.toSorted(byText), expected.toSorted(byText), event)
          kinds.curve++
          continue
        }
        const {
          data,
          chosen,
          left_out: leftOut,
        } = (await sums.json()) as {
          data: { total: { cases: number | null; deaths: number | null } }[]
          chosen: { counts: { cases?: number } }[]
          left_out: { counts: { cases?: number } }[]
        }
        if (svg.includes('>One total<')) {
          const total = data[0]?.total.cases ?? data[0]?.total.deaths ?? null
          assert.ok(svg.includes(`>${write(total)}</text>`), event)
          kinds.single++
        } else {
          const drawn = [...svg.matchAll(/font-size="18px"[^>]*>([^<]*)</g)].map(([, value]) => value)
          const counts = [...chosen, ...leftOut].flatMap(({ counts: { cases } }) =>
            cases === undefined ? [] : [write(cases)],
          )
          if (counts.length > 0) assert.deepEqual(drawn, counts.slice(0, 20), event)
          kinds.totals++
        }
      }
      assert.ok(
        Object.values(kinds).every((number) => number > 0),
        JSON.stringify(kinds),
      )
    })

    test('oEmbed describes an embed to whoever has its key', async () => {
      const url = await link(`${HOME}/embed?${CURVE}&release=5`)
      const html = await (await open(url)).text()
      const discovered =
        /<link rel="alternate" type="application\/json\+oembed"[^>]*href="([^"]+)"/
          .exec(html)?.[1]
          ?.replaceAll('&amp;', '&') ?? ''
      const response = await open(`${discovered}&format=json&maxwidth=500&dnt=1`)
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('cache-control'), 'no-store')
      const answer = (await response.json()) as Record<string, unknown>
      assert.deepEqual(
        { ...answer, html: '' },
        {
          version: '1.0',
          type: 'rich',
          title: 'Measles, United States, 2025',
          provider_name: 'Outbreak Data Service',
          provider_url: baseUrl,
          html: '',
          width: 500,
          height: 640,
        },
      )
      const source = /^<iframe src="([^"]+)"/.exec(String(answer['html']))?.[1]?.replaceAll('&amp;', '&') ?? ''
      assert.equal((await open(source)).status, 200)
      const oembed = (address: string) => open(`${HOME}/oembed?url=${encodeURIComponent(address)}`)
      const key = url.split('key=')[1] ?? ''
      const refused = [
        url.replace(/&key=.*/, ''),
        url.replace('release=5', 'release=6'),
        url.replace('/embed?', '/picture?'),
        `https://evil.example/v2/hed-outbreaks/embed?${CURVE}&release=5&key=${key}`,
        `${baseUrl}.evil.example${HOME}/embed?${CURVE}&release=5&key=${key}`,
        `${url.slice(0, -2)}xx`,
        `${url}&key=${key}`,
      ]
      for (const address of refused) {
        const { status } = await oembed(address)
        assert.equal(status, 401, address)
      }
      // Neither the log of this test nor the discovery has shown a key to anyone else.
      await waitUntil('a line about oEmbed in the log', async () => service.output().includes('/oembed'))
      assert.doesNotMatch(service.output(), /obk1\./)
    })

    test('the explorer makes a frame and a picture of what it shows', async () => {
      const context = await explorer.signIn()
      const shown = await context.newPage()
      await shown.goto(`${baseUrl}/explore/events/Measles_United_States_2025/use?interval=month`)
      await settle(shown)
      await shown.getByRole('button', { name: 'Embed' }).click()
      const frame = (await shown.getByLabel('Frame', { exact: true }).textContent()) ?? ''
      const picture = (await shown.getByLabel('Image (SVG)').textContent()) ?? ''
      const source = /src="([^"]+)"/.exec(frame)?.[1]?.replaceAll('&amp;', '&') ?? ''
      assert.match(await (await open(source)).text(), /New confirmed cases by month/)
      assert.match(await (await open(picture)).text(), /^<svg /)
      await context.close()
    })
  },
)
