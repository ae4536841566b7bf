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
progress { display: block; width: 100%; height: 8px; margin: 24px 0 8px; border: 0; border-radius: 4px; overflow: hidden; appearance: none; background: var(--line) }
progress[hidden] { display: none }
progress::-webkit-progress-bar { background: var(--line) }
progress::-webkit-progress-value { background: var(--good) }
progress::-moz-progress-bar { background: var(--good) }
output { color: var(--soft) }
`

// Requests go to the address of the page itself; responses are only ever shown as text.
const SCRIPT = `
const [bar, count, state] = ['progress', 'output', 'p'].map(name => document.querySelector(name))
let broken = 0
function show(ready, services) {
  bar.max = services || 1
  bar.value = ready
  bar.hidden = services === 0
  count.textContent = services === 0 ? '' : ready + ' of ' + services + (services === 1 ? ' service is ready' : ' services are ready')
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
        const { status, ready, services } = await answer.json()
        show(ready, services)
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
<progress aria-label="Services that are ready" hidden></progress>
<output></output>
<noscript>Without JavaScript, this page does not update itself. Reload it in a moment.</noscript>
</main>
<script>${SCRIPT}</script>
</html>
`
