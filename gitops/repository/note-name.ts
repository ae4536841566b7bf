/**
 * Returns the ref that notes the newest source of a folder: `refs/devctl/environments/staging/shop/@main`. Only its
 * last part starts with `@`, so that folders may contain each other. Characters that are invalid in refs
 * (https://git-scm.com/docs/git-check-ref-format) are percent-encoded.
 */
export function noteName(path: string, branch: string): string {
  return `refs/devctl/${path.split('/').map(escaped).join('/')}/@${escaped(branch)}`
}

const escaped = (text: string) =>
  text.replaceAll(/[^\w-]/gu, character =>
    [...new TextEncoder().encode(character)]
      .map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  )
