// The page on which people sign in. It has no script, so password managers and every browser can use it.
import { escapeHtml } from '../platform/escape-html.ts'
import { type Frame, renderHeader, renderStyle } from '../platform/pages/frame.ts'

export interface SignInPage {
  readonly frame: Frame
  /** The address to return to. */
  readonly to: string
  /** Sign-in with a provider; null if there is none. */
  readonly provider: { readonly name: string; readonly start: string } | null
  readonly hasPublicClient: boolean
  /** What was wrong; null at first. */
  readonly error: string | null
}

export const renderSignIn = ({ frame, to, provider, hasPublicClient, error }: SignInPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in: Outbreak explorer</title>
<link rel="icon" href="data:,">
${renderStyle(frame)}
</head>
<body>
${renderHeader(frame, 'Outbreak explorer', '/explore')}
<main class="enter">
<h1>Sign in</h1>
<p>The operator of this service gives you a client id and a secret.</p>
${error === null ? '' : `<p role="alert">${escapeHtml(error)}</p>`}
${provider === null ? '' : renderProvider(provider, to)}
<form method="post" action="/explore/session">
${renderTarget(to)}
<label for="client_id">Client id</label>
<input id="client_id" name="client_id" autocomplete="username" required>
<label for="client_secret">Client secret</label>
<input id="client_secret" name="client_secret" type="password" autocomplete="current-password" required>
<button class="primary">Sign in</button>
</form>
${hasPublicClient ? renderPublic(to) : ''}
</main>
</body>
</html>
`

/** A link, not a form: the policy `form-action 'self'` also applies to the redirect that follows a form. */
const renderProvider = ({ name, start }: NonNullable<SignInPage['provider']>, to: string): string =>
  `<a class="button" href="${escapeHtml(`${start}?to=${encodeURIComponent(to)}`)}">Sign in with ${escapeHtml(name)}</a>`

const renderPublic = (to: string): string => `<form method="post" action="/explore/session">
${renderTarget(to)}
<button name="public" value="1">Continue as a guest</button>
</form>`

const renderTarget = (to: string): string => `<input type="hidden" name="to" value="${escapeHtml(to)}">`
