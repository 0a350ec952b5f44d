// The links in mails: one confirms an address, one ends its mails. Whoever has the mail can use them, without a token. Opening a
// link changes nothing, because mailboxes open links to look for malware: the page has a button.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import sql from 'sql-template-tag'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { takenKey } from '../../platform/http/request-checks.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { Problem } from '../../platform/problem.ts'
import type { SealingKeys } from './endpoint-secrets.ts'

export interface MailLinks {
  readonly database: Database
  readonly baseUrl: string
  /** The first one signs links; all of them verify. */
  readonly linkKeys: SealingKeys
}

type Purpose = 'confirm' | 'unsubscribe'
interface LinkedEndpoint {
  readonly id: string
  readonly dataset: string
}

const CONFIRM_SECONDS = 3 * 24 * 3600
const NEVER = 0

/** The `key` is taken out of the address before anything can log it. */
export const confirmUrl = (links: MailLinks, endpoint: LinkedEndpoint, now = Date.now()): string =>
  linkUrl(links, endpoint, 'confirm', Math.floor(now / 1000) + CONFIRM_SECONDS)

export const unsubscribeUrl = (links: MailLinks, endpoint: LinkedEndpoint): string =>
  linkUrl(links, endpoint, 'unsubscribe', NEVER)

const linkUrl = (
  { baseUrl, linkKeys: [key] }: MailLinks,
  { id, dataset }: LinkedEndpoint,
  purpose: Purpose,
  expiry: number,
) => `${baseUrl}/v2/${dataset}/endpoints/${id}/mail/${purpose}?key=${expiry}.${sign(key, id, purpose, expiry)}`

const sign = (key: Buffer, id: string, purpose: Purpose, expiry: number): string =>
  createHmac('sha256', key)
    .update(JSON.stringify([purpose, id, expiry]))
    .digest('base64url')

function isValid(linkKeys: SealingKeys, id: string, purpose: Purpose, text: string, now = Date.now()): boolean {
  const [, expiry = '', given = ''] = /^(\d{1,12})\.([\w-]{43})$/.exec(text) ?? []
  const seconds = Number(expiry)
  if (given === '' || (purpose === 'confirm' ? seconds <= now / 1000 : seconds !== NEVER)) return false
  return linkKeys.some((key) => timingSafeEqual(Buffer.from(sign(key, id, purpose, seconds)), Buffer.from(given)))
}

const PAGES = {
  confirm: {
    question: 'Receive notices at this address?',
    button: 'Confirm',
    done: 'You will receive notices at this address.',
  },
  unsubscribe: {
    question: 'Receive no more notices?',
    button: 'Unsubscribe',
    done: 'You will receive no more notices.',
  },
}

/** Outside of any guard. Once for each dataset. `links` is null on a process that does not run the handlers. */
export function registerMailLinks(app: HttpServer, datasetName: string, links: MailLinks | null): void {
  const use = (): MailLinks => {
    if (links === null) throw new Problem('unavailable', 'Links of mails are served by the notifier.')
    return links
  }
  for (const purpose of ['confirm', 'unsubscribe'] as const) {
    const url = `/v2/${datasetName}/endpoints/:id/mail/${purpose}`
    const { question, button, done } = PAGES[purpose]
    app.get<{ Params: { id: string } }>(url, { schema: { hide: true } }, async ({ params, raw }, reply) => {
      assertValid(params.id, purpose, takenKey(raw))
      return sendPage(reply, question, `<form method="post"><button>${button}</button></form>`)
    })
    app.post<{ Params: { id: string } }>(url, { schema: { hide: true } }, async ({ params, raw }, reply) => {
      assertValid(params.id, purpose, takenKey(raw))
      if (purpose === 'confirm') await confirmAddress(use().database, params.id)
      else await unsubscribe(use().database, params.id)
      return sendPage(reply, done)
    })
  }

  function assertValid(id: string, purpose: Purpose, key: string | null): void {
    if (!isValid(use().linkKeys, id, purpose, key ?? ''))
      throw new Problem('not_found', 'This link is not valid, or it has expired. Use the newest mail.')
  }
}

/** Not after unsubscribing: a person said no. */
async function confirmAddress(database: Database, id: string): Promise<void> {
  const rows = await database.query(sql`
    update endpoint set state = 'active', reason = null, failing_since = null
    where id = ${id} and kind = 'mail' and deleted_at is null and state in ('unconfirmed', 'active') returning id`)
  if (rows.length === 0) throw new Problem('not_found', 'There is no such address to confirm any more.')
}

async function unsubscribe(database: Database, id: string): Promise<void> {
  await database.query(sql`
    with ended as (
      update endpoint set state = 'disabled', reason = 'unsubscribed' where id = ${id} and kind = 'mail' returning id
    )
    update delivery set state = 'failed', next_attempt_at = null
    from ended where delivery.endpoint = ended.id and delivery.state = 'pending'`)
}

const sendPage = (reply: FastifyReply, text: string, more = '') =>
  reply
    .type('text/html; charset=utf-8')
    .headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex' })
    .send(
      `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Notices</title><p>${text}</p>${more}</html>`,
    )
