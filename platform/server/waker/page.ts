import { createHash } from 'node:crypto'

/** The path that the page polls for the progress of a wake; the application never handles it. */
export const PROGRESS_TYPE = 'application/vnd.devctl.waking+json'
/** A header of all responses of the waker: without it, the response came from the application. */
export const WAKER_HEADER = 'x-devctl-waker'

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6472; --ground: #f7f8fa; --line: #dfe3ea; --good: #1a7f4b }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #9aa4b2; --ground: #12151b; --line: #2a303a; --good: #4cc38a } }
* { box-sizing: border-box; margin: 0 }
body { min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 420px }
h1 { font-size: 22px; line-height: 1.3; margin-bottom: 4px }
p { color: var(--soft); min-height: 24px }
ul { list-style: none; padding: 0; margin-top: 24px; border-top: 1px solid var(--line) }
li { display: flex; gap: 12px; padding: 10px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
li span:last-child { margin-left: auto; color: var(--soft); white-space: nowrap }
li.ready span { color: var(--good) }
@keyframes breathe { 50% { opacity: .35 } }
li:not(.ready) span:first-child { animation: breathe 1.6s ease-in-out infinite }
@media (prefers-reduced-motion: reduce) { li span { animation: none !important } }
`

// Requests go to the address of the page itself; responses are only ever shown as text.
const SCRIPT = `
const [list, state] = [document.querySelector('ul'), document.querySelector('p')]
let broken = 0
function show(services) {
  for (const { name, isReady } of services) {
    let line = [...list.children].find(one => one.dataset.name === name)
    if (!line) {
      line = document.createElement('li')
      line.dataset.name = name
      for (let part = 0; part < 3; part++) line.append(document.createElement('span'))
      list.append(line)
    }
    line.className = isReady ? 'ready' : ''
    const texts = [isReady ? '\\u2713' : '\\u25cb', name, isReady ? 'ready' : 'starting']
    texts.forEach((text, at) => { if (line.children[at].textContent !== text) line.children[at].textContent = text })
  }
}
async function look() {
  try {
    const answer = await fetch(location.href, {
      headers: { accept: '${PROGRESS_TYPE}' }, cache: 'no-store', credentials: 'omit', redirect: 'manual',
    })
    if (answer.headers.get('${WAKER_HEADER}') === null) {
      if (![404, 502, 503, 504].includes(answer.status) || ++broken > 10) return location.reload()
    } else {
      broken = 0
      if (answer.ok) {
        const { status, services } = await answer.json()
        show(services)
        state.textContent = status === 'Sleeping' ? 'It went back to sleep. Reload this page to wake it.' : 'This takes a moment.'
      } else if (answer.status === 404) return location.reload()
    }
  } catch {
    state.textContent = 'Connection lost. Retrying.'
  }
  setTimeout(look, 700)
}
look()
`

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Only the page's own style and script, and requests to its own host. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src ${hash(STYLE)}`,
  `script-src ${hash(SCRIPT)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page that people see while a namespace wakes up. It contains no text from outside. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Waking up</title>
<style>${STYLE}</style>
<main>
<h1>Waking up</h1>
<p role="status">This takes a moment.</p>
<ul aria-label="Services"></ul>
<noscript>Without JavaScript, this page does not update itself. Reload it in a moment.</noscript>
</main>
<script>${SCRIPT}</script>
</html>
`
