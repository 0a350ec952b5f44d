// Sends notices by SMTP: to a confirmed address only, with a link that ends them in one click (RFC 8058).
import { createTransport } from 'nodemailer'
import type { Outcome } from './queue.ts'

export interface Mailer {
  send(mail: Mail): Promise<void>
  close(): void
}

interface Mail {
  /** Equal at every attempt, so that a mailbox can tell a copy. */
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Null in a mail that asks to confirm. */
  readonly unsubscribeUrl: string | null
}

const SMTP_TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 15_000, dnsTimeout: 5000 }
const MAX_SUBJECT_LENGTH = 150

/** `from` is the sender, such as outbreaks@example.org. */
export function openMailer(smtpUrl: string, from: string): Mailer {
  const transport = createTransport({ url: smtpUrl, pool: true, maxConnections: 2, ...SMTP_TIMEOUTS })
  const host = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '')
  return {
    async send({ id, to, subject, text, unsubscribeUrl }) {
      await transport.sendMail({
        from,
        // An object: a list or a name in the address would be other recipients.
        to: { name: '', address: to },
        subject: oneLine(subject).slice(0, MAX_SUBJECT_LENGTH),
        text,
        messageId: `<${id}@${host}>`,
        headers: {
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribeUrl === null
            ? {}
            : { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
        },
        disableFileAccess: true,
        disableUrlAccess: true,
      })
    },
    close: () => transport.close(),
  }
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim()

/** One attempt. It does not throw: what went wrong is part of the outcome. */
export async function attemptMail(mailer: Mailer, mail: Mail): Promise<Outcome & { retryAfter: null }> {
  const started = performance.now()
  const end = (status: number | null, error: string | null) => ({
    status,
    error,
    milliseconds: Math.round(performance.now() - started),
    delivered: error === null,
    gone: false,
    retryAfter: null,
  })
  try {
    await mailer.send(mail)
    return end(250, null)
  } catch (error) {
    // The text of the server can have the address, so only its status is kept.
    const { responseCode } = error as { responseCode?: number }
    return end(
      responseCode ?? null,
      responseCode === undefined ? 'the mail server did not respond' : 'the mail server rejected the mail',
    )
  }
}

/** What a mail says about a notice, or about a digest of several. */
export function writeMail(
  body: { type: string; data: MailData },
  unsubscribeUrl: string,
): { subject: string; text: string } {
  const { data } = body
  const notices = data.notices ?? [data]
  const lines = notices.flatMap((notice) => [
    notice.title ?? body.type,
    ...[notice.text ?? []].flat(),
    ...Object.values(notice.links ?? {}).slice(0, 1),
    '',
  ])
  return {
    subject: data.title ?? body.type,
    text: [
      ...lines,
      ...(data.left_out ? [`${data.left_out} more are not in this mail.`, ''] : []),
      '--',
      `To receive no more mails: ${unsubscribeUrl}`,
      '',
    ].join('\n'),
  }
}

export interface MailData extends Notice {
  readonly notices?: readonly Notice[]
  readonly left_out?: number
}

interface Notice {
  readonly title?: string
  readonly text?: string | readonly string[]
  readonly links?: Record<string, string>
}
