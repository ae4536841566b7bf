/** What the file system of this machine can hold, as far as paths from the other side are concerned. */
export interface NameRules {
  readonly windows: boolean
  /** Files whose names differ only in case are one file. */
  readonly foldsCase: boolean
}

/**
 * Why a path from the container is not written on this machine; undefined if it may be. The container may be hostile:
 * nothing outside the folder is reached, and nothing that git or the system gives a meaning of its own.
 */
export function pathProblem(path: string, rules: NameRules): string | undefined {
  const outside = outsideProblem(path)
  if (outside) return outside
  for (const name of path.split('/')) {
    const problem = nameProblem(name, rules)
    if (problem) return problem
  }
  return undefined
}

/** The start of a path that is refused, up to the name for which it is: `module/.git` of `module/.git/config`. */
export function refusedPart(path: string, rules: NameRules): string {
  const names = path.split('/')
  for (let end = 1; end < names.length; end++) {
    const part = names.slice(0, end).join('/')
    if (part !== '' && pathProblem(part, rules)) return part
  }
  return path
}

/** Why a path is not one inside a folder; both sides refuse it. */
export function outsideProblem(path: string): string | undefined {
  if (path === '' || path.length > 4096) return 'the path is empty or too long'
  if (path.includes('\0')) return 'the path has a NUL character'
  if (path.startsWith('/')) return 'the path is absolute'
  if (path.split('/').some(name => name === '' || name === '.' || name === '..'))
    return 'the path leads out of the folder'
  return undefined
}

function nameProblem(name: string, { windows }: NameRules): string | undefined {
  if (Buffer.byteLength(name) > 255) return 'a name in the path is longer than 255 bytes'
  const repository = repositoryFolder(name)
  if (repository) return `\`${repository}\` is never written from the container: its hooks would run on this machine`
  if (!windows) return undefined
  if (/[<>:"|?*\\\x01-\x1f]/.test(name) || /[. ]$/.test(name)) return 'Windows does not allow this name'
  if (/^(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(\.|$)/i.test(name))
    return 'Windows uses this name for a device'
  return undefined
}

/** The folder of a repository, of git, Mercurial, Jujutsu or Sapling. */
const REPOSITORY = /^(\.git|git~\d+|\.hg|hg~\d+|\.jj|jj~\d+|\.sl|sl~\d+)(::.*|:.*|[. ]*)$/i

/**
 * Returns the usual name of such a folder, also for one that macOS and Windows take for it: letters that are not seen, trailing dots
 * and blanks, the short name.
 */
function repositoryFolder(name: string): string | undefined {
  const found = REPOSITORY.exec(plainName(name))?.[1]?.toLowerCase()
  return found && `.${found.replace(/^\.|~\d+$/g, '')}`
}

/** A name without the letters that some file systems leave out. */
export function plainName(name: string): string {
  return name.normalize('NFKC').replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
}

/** A path as file systems read it that take more paths for the same. */
export const plainPath = (path: string): string => (/[^\0-\x7f]/.test(path) ? plainName(path) : path).toLowerCase()

/** Why a link from the container is not made on this machine. Written through it, a file would be outside the folder. */
export function linkProblem(path: string, target: string): string | undefined {
  if (target === '' || target.includes('\0')) return 'the link has no valid target'
  if (/^([/\\]|[a-z]:)/i.test(target)) return `the link leads out of the folder, to \`${target}\``
  const place = path.split('/').slice(0, -1)
  let hasName = false
  for (const name of target.split(/[/\\]/))
    if (name === '..') {
      // What it leads up from may be another link.
      if (hasName || place.pop() === undefined) return `the link leads out of the folder, to \`${target}\``
    } else if (name !== '.' && name !== '') {
      const repository = repositoryFolder(name)
      if (repository) return `a link into \`${repository}\` is not made on this machine`
      hasName = true
    }
  return undefined
}

/** Names with the same key are one file to some file systems: letters with accents in one form, and by case. */
export function nameKey(name: string, { foldsCase }: NameRules): string {
  const normal = name.normalize('NFC')
  return foldsCase ? normal.toLowerCase() : normal
}

/** A path in a folder, where the folder is relative to the root: '' is the root itself. */
export const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** Where a path that is relative to the root is; '' is the root itself. */
export const placeIn = (root: string, path: string): string => (path === '' ? root : `${root}/${path}`)
