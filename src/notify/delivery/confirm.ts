// Asks whoever is at an address whether they want notices: a webhook echoes a challenge, a person follows a link in a mail.
import { randomBytes, randomUUID } from 'node:crypto'
import sql from 'sql-template-tag'
import type { EgressPolicy } from '../../platform/egress/checked-connection.ts'
import { Problem } from '../../platform/problem.ts'
import { cloudEvent } from './cloud-event.ts'
import { openSecrets, type SealingKeys } from './endpoint-secrets.ts'
import { findEndpoint, type Owner } from './endpoints.ts'
import type { Mailer } from './mail.ts'
import { confirmUrl, type MailLinks } from './mail-links.ts'
import { BY_OPERATOR } from './queue.ts'
import { describeNoResponse, postSigned } from './send-webhook.ts'

export interface Confirmation extends MailLinks {
  readonly sealingKeys: SealingKeys
  readonly egress: EgressPolicy
  readonly mailer: Mailer | null
}

/** Between two questions to one address. */
const WAIT_SECONDS = { webhook: 10, mail: 3600 }
/** What an operator or the owner of a mailbox decided, a client cannot undo. */
const FINAL_REASONS = ['unsubscribed', BY_OPERATOR]
const CHALLENGE_MS = 10_000

export async function confirmEndpoint(deps: Confirmation, owner: Owner, id: string): Promise<void> {
  const { database } = deps
  const { kind, address, state, reason } = await findEndpoint(database, owner, id)
  if (state === 'active' && kind === 'mail') throw new Problem('conflict', 'The address is confirmed already.')
  if (reason !== null && FINAL_REASONS.includes(reason))
    throw new Problem('conflict', `The endpoint cannot become active again: ${reason}.`)
  const wait = WAIT_SECONDS[kind]
  const asked = await database.query<{ sealed_secret: Buffer | null }>(sql`
    update endpoint set asked_at = now()
    where id = ${id} and deleted_at is null and (asked_at is null or asked_at < now() - make_interval(secs => ${wait}))
    returning sealed_secret`)
  const [row] = asked
  if (row === undefined)
    throw new Problem('quota_exceeded', `This address was asked less than ${wait} s ago.`, {
      headers: { 'retry-after': String(wait) },
    })
  if (kind === 'mail') return askByMail(deps, owner, id, address)
  const secrets = openSecrets(
    { endpoint: id, sealed_secret: row.sealed_secret, sealed_previous_secret: null },
    deps.sealingKeys,
  )
  await challenge(deps, address, secrets)
  await database.query(sql`
    update endpoint set state = 'active', reason = null, failing_since = null where id = ${id} and deleted_at is null`)
}

/** Throws a Problem that says what the receiver did instead of echoing. */
async function challenge(
  { egress, baseUrl }: Confirmation,
  address: string,
  secrets: readonly string[],
): Promise<void> {
  const expected = randomBytes(24).toString('base64url')
  const id = randomUUID()
  const body = JSON.stringify(cloudEvent(id, baseUrl, 'endpoint.challenge', { challenge: expected }))
  const response = await postSigned({ id, body, address, secrets, egress, timeoutMs: CHALLENGE_MS }).catch(
    (error: unknown) => {
      throw notConfirmed(`${describeNoResponse(error)}.`)
    },
  )
  if (response.status < 200 || response.status > 299)
    throw notConfirmed(`it responded with the status ${response.status}.`)
  if (!readEchoes(response.text).includes(expected))
    throw notConfirmed('its response has no echo. Respond with {"challenge": …}, with the value of data.challenge.')
}

const notConfirmed = (what: string) => new Problem('conflict', `The receiver did not confirm: ${what}`)

/** The text itself, or the member of a JSON object. */
function readEchoes(text: string): unknown[] {
  try {
    const parsed: unknown = JSON.parse(text)
    return [parsed, (parsed as { challenge?: unknown } | null)?.challenge]
  } catch {
    return [text.trim()]
  }
}

async function askByMail(deps: Confirmation, { dataset }: Owner, id: string, address: string): Promise<void> {
  const { mailer, baseUrl } = deps
  if (mailer === null) throw noMail()
  const text = [
    `Someone asked ${baseUrl} to send notices about ${dataset} to this address.`,
    'If it was you, confirm within three days:',
    '',
    confirmUrl(deps, { id, dataset }),
    '',
    'Otherwise ignore this mail. Nothing else will be sent.',
    '',
  ].join('\n')
  await mailer
    .send({ id: randomUUID(), to: address, subject: 'Confirm your address', text, unsubscribeUrl: null })
    .catch((cause: unknown) => {
      throw new Problem('unavailable', 'The mail could not be sent. Try again later.', { cause })
    })
}

export const noMail = () =>
  new Problem('conflict', 'This service sends no mail. Create an endpoint with a url instead.')
