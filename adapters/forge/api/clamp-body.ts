import type { ForgeKind } from '../../../compiler/values/repository-names.ts'
import type { PullRequests } from '../forge.ts'
import { FORGES } from '../forges.ts'

const NOTE = '\n\n_The rest does not fit here: see the commit._\n'

/**
 * Truncates Markdown at the end of a line to the limit of a forge. Closes code blocks and `<details>` that are open at
 * the cut.
 */
export function clampBody(body: string, kind: ForgeKind, limit = FORGES[kind].bodyLimit): string {
  if (body.length <= limit) return body
  // Leaves room for the end marks of open blocks.
  const cut = body.lastIndexOf('\n', limit - NOTE.length - 200)
  const kept = body.slice(0, Math.max(0, cut))
  return `${kept}${closing(kept)}${NOTE}`
}

/** Wraps access to requests: truncates all texts to the limits of the forge before they are sent. */
export const clamped = ({ find, open, update, close, comment }: PullRequests, kind: ForgeKind): PullRequests => ({
  find,
  open: (request, waiting) => open({ ...request, body: clampBody(request.body, kind) }, waiting),
  update: (request, text, waiting) => update(request, { ...text, body: clampBody(text.body, kind) }, waiting),
  close: (request, text, waiting) => close(request, clampBody(text, kind), waiting),
  comment: (number, one, waiting) => comment(number, { ...one, body: clampBody(one.body, kind) }, waiting),
})

/** Returns the end marks of the blocks that are open at the end of a text. */
function closing(text: string): string {
  let fence: string | undefined
  let details = 0
  for (const line of text.split('\n')) {
    const found = /^(`{3,})/.exec(line)?.[1]
    if (fence === undefined && found !== undefined) fence = found
    else if (fence !== undefined && line.trim() === fence) fence = undefined
    else if (fence === undefined) details += Number(line.startsWith('<details')) - Number(line.startsWith('</details>'))
  }
  return `${fence === undefined ? '' : `\n${fence}`}${'\n\n</details>'.repeat(Math.max(0, Math.min(5, details)))}`
}
