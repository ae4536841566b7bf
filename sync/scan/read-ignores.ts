import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { IGNORE_FILE } from '../ignore/default-ignores.ts'
import { type ParsedIgnores, parseIgnores } from '../ignore/ignore.ts'
import { isMissing } from '../stage/disk.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Rules, files and texts of the ignore file of a sync folder. */
export interface ReadIgnores extends ParsedIgnores {
  /** Files that were read, relative to the folder. When one of them changes, the rules change. */
  readonly files: readonly string[]
  /** Contents of the files, by name. */
  readonly texts: Readonly<Record<string, string>>
}

/** Reads the ignore file of a sync folder. Returns undefined if it does not exist; throws other read errors. */
export function readIgnores(folder: string, platform: NodeJS.Platform): ReadIgnores | undefined {
  const texts: Record<string, string> = {}
  const include = (name: string) => {
    const text = read(folder, name)
    if (typeof text === 'string') texts[name] = text
    return text
  }
  const text = include(IGNORE_FILE)
  if (text === undefined) return undefined
  if (typeof text !== 'string') {
    const problem = { line: 1, message: `\`${IGNORE_FILE}\` ${text.problem}` }
    return {
      ...parseIgnores('', () => undefined),
      problems: [problem],
      files: [IGNORE_FILE],
      texts: { [IGNORE_FILE]: '' },
    }
  }
  const foldCase = platform === 'darwin' || platform === 'win32'
  // Windows uses `\` as the path separator, so the escape character is another one, as in Syncthing.
  const isWindows = platform === 'win32'
  const parsed = parseIgnores(isWindows ? withSlashes(text) : text, include, {
    foldCase,
    escapeCharacter: isWindows ? '|' : '\\',
  })
  return { ...parsed, files: Object.keys(texts), texts }
}

const withSlashes = (text: string): string =>
  /^\s*#escape\s*=\s*\\\s*$/m.test(text) ? text : text.replaceAll('\\', '/')

/** Returns a form of the path that is equal for paths that a case-insensitive file system treats as equal. */
const plain = (path: string): string => path.normalize('NFC').toLowerCase()

/** Maximum size of an ignore file in bytes: no user writes this many patterns. */
const LARGEST = 1 << 20

/**
 * Reads a regular file in the folder. Returns undefined if it does not exist, or the reason why it is not read, such as
 * a link.
 */
function read(folder: string, name: string): string | { readonly problem: string } | undefined {
  let path: string
  try {
    path = realpathSync.native(join(folder, name))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  const root = realpathSync.native(folder)
  if (!path.startsWith(`${root}${sep}`)) return { problem: 'leads out of the folder' }
  // The file is a link, whose target the container could change.
  if (plain(path) !== plain(join(root, name))) return { problem: 'is a link' }
  // Neither blocks on a pipe, nor follows a link that has just replaced the file.
  const file = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return { problem: 'is not a file' }
    return stat.size > LARGEST ? { problem: 'is larger than 1 MiB' } : readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
