import { createHash } from 'node:crypto'

/**
 * Media type of requests for the progress of a wake, which the page polls. The application never handles these
 * requests.
 */
export const PROGRESS_TYPE = 'application/vnd.devctl.waking+json'
/** Header of all responses of the waker. A response without it came from the application. */
export const WAKER_HEADER = 'x-devctl-waker'

/**
 * Style sheet of the pages. Its colors are the same as on the platform's pages (style/tokens.css); a test compares
 * them.
 */
const STYLE = `
:root { color-scheme: light dark; --page: #fbfbfc; --surface: #ffffff; --ink: #17181c; --ink-2: #55565f; --line: #e6e6ea; --accent: #3a55d1; --good: #14713d; --mark: #1b1c21; --mark-line: #ffffff; --mark-cursor: #8ea2ff }
@media (prefers-color-scheme: dark) { :root { --page: #0d0e11; --surface: #141519; --ink: #f0f0f3; --ink-2: #a6a8b3; --line: #26272d; --accent: #93a7ff; --good: #5fd08e; --mark: #f0f0f3; --mark-line: #16171b; --mark-cursor: #3f5bd6 } }
* { box-sizing: border-box; margin: 0 }
body { min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--page); color: var(--ink); font: 14px/1.5 Inter, system-ui, sans-serif; text-align: center }
main { width: min(400px, 100%); padding: 32px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface) }
svg { display: block; margin: 0 auto 12px }
h1 { font-size: 20px; font-weight: 600; line-height: 1.3; margin-bottom: 4px }
p, output { color: var(--ink-2) }
p { min-height: 21px }
p + p { margin-top: 12px }
a { color: var(--accent) }
progress { display: block; width: 100%; height: 8px; margin: 24px 0 8px; border: 0; border-radius: 4px; overflow: hidden; appearance: none; background: var(--line) }
progress[hidden] { display: none }
progress::-webkit-progress-bar { background: var(--line) }
progress::-webkit-progress-value { background: var(--good) }
progress::-moz-progress-bar { background: var(--good) }
`

const MARK =
  '<svg width="32" height="32" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="var(--mark)"/><path d="M9 10.5 14.5 16 9 21.5" fill="none" stroke="var(--mark-line)" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/><rect x="16.5" y="19.4" width="7.5" height="3" rx="1.5" fill="var(--mark-cursor)"/></svg>'

// The script sends requests only to the page's own address, and shows responses only as text.
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

const policy = (more: readonly string[]): string =>
  [
    "default-src 'none'",
    `style-src ${hash(STYLE)}`,
    ...more,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** A page that the waker sends. */
export interface WakerPage {
  readonly html: string
  /** Content security policy: only the page's own style and script, and only requests to its own host. */
  readonly policy: string
}

const document = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
<main>
${MARK}
<h1>${title}</h1>
${content}
</html>
`

/**
 * The page that users see while a namespace wakes up. Its text is constant, and contains nothing from the request or
 * the namespace.
 */
export const WAKING: WakerPage = {
  html: document(
    'Waking up',
    `<p role="status">This takes a moment.</p>
<progress aria-label="Services that are ready" hidden></progress>
<output></output>
<noscript>Without JavaScript, this page does not update itself. Reload it in a moment.</noscript>
</main>
<script>${SCRIPT}</script>`,
  ),
  policy: policy([`script-src ${hash(SCRIPT)}`, "connect-src 'self'"]),
}

/**
 * Returns the page for hosts that belong to no application. `url` is the platform's address, which is the only text on
 * the page that is not constant.
 */
export const nothingPage = (url: string): WakerPage => ({
  html: document(
    'Nothing at this address',
    `<p>No application has this address. Is it spelt right? The application may have been destroyed.</p>
<p><a href="${url.replace(/[&"<>]/g, one => `&#${one.charCodeAt(0)};`)}">Open the platform</a></p>
</main>`,
  ),
  policy: policy([]),
})
