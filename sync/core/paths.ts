/** Rules of this machine's file system for file names. */
export interface NameRules {
  readonly windows: boolean
  /** True if names that differ only in case refer to the same file. */
  readonly foldsCase: boolean
}

/**
 * Returns the reason why a path from the container must not be written on this machine; undefined if it may be written.
 * The container may be hostile: it must not reach files outside the folder, nor names that have a special meaning for
 * git or the operating system.
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

/**
 * Returns the beginning of a refused path, up to the name that causes the refusal: `module/.git` for
 * `module/.git/config`.
 */
export function refusedPart(path: string, rules: NameRules): string {
  const names = path.split('/')
  for (let end = 1; end < names.length; end++) {
    const part = names.slice(0, end).join('/')
    if (part !== '' && pathProblem(part, rules)) return part
  }
  return path
}

/**
 * Returns the reason why a path is not valid inside a folder; undefined if it is valid. Both sides refuse invalid
 * paths.
 */
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

/** Names of repository folders of git, Mercurial, Jujutsu and Sapling, including their short names on Windows. */
const REPOSITORY = /^(\.git|git~\d+|\.hg|hg~\d+|\.jj|jj~\d+|\.sl|sl~\d+)(::.*|:.*|[. ]*)$/i

/**
 * Returns the usual name of a repository folder, such as `.git`, if macOS or Windows would open such a folder under the
 * given name. The given name may contain invisible characters, end with dots or blanks, or be the short name. Returns
 * undefined for all other names.
 */
function repositoryFolder(name: string): string | undefined {
  const found = REPOSITORY.exec(plainName(name))?.[1]?.toLowerCase()
  return found && `.${found.replace(/^\.|~\d+$/g, '')}`
}

/** Returns a name without the characters that some file systems ignore. */
export function plainName(name: string): string {
  return name.normalize('NFKC').replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, '')
}

/** Returns a form of the path that is equal for paths that some file systems treat as equal. */
export const plainPath = (path: string): string => (/[^\0-\x7f]/.test(path) ? plainName(path) : path).toLowerCase()

/**
 * Returns the reason why a link from the container is not created on this machine; undefined if it may be created. A
 * file that is written through a refused link could be outside the folder.
 */
export function linkProblem(path: string, target: string): string | undefined {
  if (target === '' || target.includes('\0')) return 'the link has no valid target'
  if (/^([/\\]|[a-z]:)/i.test(target)) return `the link leads out of the folder, to \`${target}\``
  const place = path.split('/').slice(0, -1)
  let hasName = false
  for (const name of target.split(/[/\\]/))
    if (name === '..') {
      // The name before `..` may itself be a link.
      if (hasName || place.pop() === undefined) return `the link leads out of the folder, to \`${target}\``
    } else if (name !== '.' && name !== '') {
      const repository = repositoryFolder(name)
      if (repository) return `a link into \`${repository}\` is not made on this machine`
      hasName = true
    }
  return undefined
}

/**
 * Returns a key that is equal for names that refer to the same file: accented letters in one form, and lowercase if the
 * file system ignores case.
 */
export function nameKey(name: string, { foldsCase }: NameRules): string {
  const normal = name.normalize('NFC')
  return foldsCase ? normal.toLowerCase() : normal
}

/** Joins a folder and a name. The folder is relative to the root; '' is the root itself. */
export const joinPath = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

/** Returns the absolute path of a path relative to the root; '' is the root itself. */
export const placeIn = (root: string, path: string): string => (path === '' ? root : `${root}/${path}`)
