/** The page on which a person signs in with a key. It has no script, and only its style is a file. */
export function signInForm(problem?: string): string {
  const described = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"'
  const told = problem === undefined ? '' : `\n<p class="problem" id="problem" role="alert">${escaped(problem)}</p>`
  return document(`<main class="sign-in">
<form class="card" method="post">
<h1>Sign in</h1>
<p class="dim">A key with the scope <code>read</code> opens this page for 30 days, or until you sign out.</p>${told}
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false" maxlength="200" required autofocus${described}>
<button class="primary">Sign in</button>
<p class="dim">No key? On the receiver’s machine, <code>sluice-receiver keys add --scope read</code> makes one.
<code>sluice-receiver page</code> prints an address that opens this page without a key.</p>
</form>
</main>`)
}

/** A page that only says something. */
export function paragraph(text: string): string {
  return document(`<main class="sign-in"><p>${escaped(text)}</p></main>`)
}

function document(body: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice receiver</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/sign-in.css">
<header class="top"><span class="brand">sluice</span></header>
${body}
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
