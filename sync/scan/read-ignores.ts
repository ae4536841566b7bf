import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { IGNORE_FILE } from '../ignore/default-ignores.ts'
import { type ParsedIgnores, parseIgnores } from '../ignore/ignore.ts'
import { isMissing } from '../stage/disk.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** What the ignore file of a sync folder says. */
export interface ReadIgnores extends ParsedIgnores {
  /** The files that were read, relative to the folder: when one changes, the rules do. */
  readonly files: readonly string[]
  /** Their contents, by name. */
  readonly texts: Readonly<Record<string, string>>
}

/** Reads the ignore file of a sync folder; undefined if it has none. Other failures to read it are thrown. */
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
  // As in Syncthing: Windows has `\` between folders, so the escape character is another one.
  const isWindows = platform === 'win32'
  const parsed = parseIgnores(isWindows ? withSlashes(text) : text, include, {
    foldCase,
    escapeCharacter: isWindows ? '|' : '\\',
  })
  return { ...parsed, files: Object.keys(texts), texts }
}

const withSlashes = (text: string): string =>
  /^\s*#escape\s*=\s*\\\s*$/m.test(text) ? text : text.replaceAll('\\', '/')

/** As file systems without case have it. */
const plain = (path: string): string => path.normalize('NFC').toLowerCase()

/** Nobody writes so many patterns. */
const LARGEST = 1 << 20

/** A regular file that is in the folder, and no link; undefined if there is none, else why it is not read. */
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
  // The container could change what a link leads to.
  if (plain(path) !== plain(join(root, name))) return { problem: 'is a link' }
  // Not held up by a pipe, nor led elsewhere by a link that has just taken its place.
  const file = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return { problem: 'is not a file' }
    return stat.size > LARGEST ? { problem: 'is larger than 1 MiB' } : readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}
