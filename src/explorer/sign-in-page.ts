// The page on which people sign in. It has no script, so password managers and every browser can use it.
export interface SignInPage {
  readonly styleSheet: string
  /** The address to return to. */
  readonly to: string
  readonly hasPublicClient: boolean
  /** What was wrong; null at first. */
  readonly error: string | null
}

export const renderSignIn = ({ styleSheet, to, hasPublicClient, error }: SignInPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in: Outbreak explorer</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/explore/assets/${escapeHtml(styleSheet)}">
</head>
<body class="enter">
<main>
<h1>Outbreak explorer</h1>
${error === null ? '' : `<p role="alert">${escapeHtml(error)}</p>`}
<form method="post" action="/explore/session">
<input type="hidden" name="to" value="${escapeHtml(to)}">
<label for="client_id">Client id</label>
<input id="client_id" name="client_id" autocomplete="username" required>
<label for="client_secret">Client secret</label>
<input id="client_secret" name="client_secret" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
${hasPublicClient ? `<form method="post" action="/explore/session"><input type="hidden" name="to" value="${escapeHtml(to)}"><button name="public" value="1">Look without a credential</button></form>` : ''}
</main>
</body>
</html>
`

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
