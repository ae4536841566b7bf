import type { ForgeKind } from './forge.ts'

/**
 * How many characters the text of a request may have: GitHub says so when it refuses a longer one, GitLab at
 * https://docs.gitlab.com/api/merge_requests/ (description). Gitea has a column of 4 GB, but takes no endless requests.
 */
const BODY_LIMITS: Readonly<Record<ForgeKind, number>> = { github: 65_536, gitlab: 1_048_576, gitea: 1_000_000 }

const NOTE = '\n\n_The rest does not fit here: the commit has it._\n'

/** Cuts Markdown at the end of a line, so that a forge takes it: blocks of code and `<details>` that are open there are closed. */
export function clampBody(body: string, kind: ForgeKind, limit = BODY_LIMITS[kind]): string {
  if (body.length <= limit) return body
  // Room for the ends of what is open, too.
  const cut = body.lastIndexOf('\n', limit - NOTE.length - 200)
  const kept = body.slice(0, Math.max(0, cut))
  return `${kept}${closing(kept)}${NOTE}`
}

/** What ends the blocks that are open at the end of a text. */
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
