import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Returns the contents of a folder by path, with `x` for executable files; folders end with `/`, links have an arrow.
 */
export function filesOf(root: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {}
  const look = (path: string) => {
    for (const name of readdirSync(join(root, path)).sort()) {
      const at = path === '' ? name : `${path}/${name}`
      const stat = lstatSync(join(root, at))
      if (stat.isDirectory()) {
        found[`${at}/`] = ''
        look(at)
      } else if (stat.isSymbolicLink()) found[at] = `-> ${readlinkSync(join(root, at))}`
      else found[at] = `${(stat.mode & 0o100) === 0 ? '' : 'x '}${readFileSync(join(root, at), 'latin1')}`
    }
  }
  look('')
  return found
}
