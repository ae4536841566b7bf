/**
 * The ref in which the newest source of a folder is noted:
 * `refs/devctl/environments/staging/shop/@main`. Its last part begins as no other does, so that
 * folders may be in one another; what refs cannot have
 * (https://git-scm.com/docs/git-check-ref-format) is escaped as in addresses.
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
