import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { IGNORE_FILE } from './default-ignores.ts'
import { type ParsedIgnores, parseIgnores } from './ignore.ts'

/** What the ignore file of a sync folder says. */
export interface ReadIgnores extends ParsedIgnores {
  /** The files that were read, relative to the folder: when one changes, the rules do. */
  readonly files: readonly string[]
}

/** Reads the ignore file of a sync folder; undefined if it has none. Other failures to read it are thrown. */
export function readIgnores(folder: string, platform: NodeJS.Platform): ReadIgnores | undefined {
  const text = read(join(folder, IGNORE_FILE))
  if (text === undefined) return undefined
  const files = [IGNORE_FILE]
  const include = (name: string) => {
    files.push(name)
    return read(join(folder, name))
  }
  const foldCase = platform === 'darwin' || platform === 'win32'
  // As in Syncthing: Windows has `\` between folders, so the escape character is another one.
  const isWindows = platform === 'win32'
  const parsed = parseIgnores(isWindows ? withSlashes(text) : text, include, {
    foldCase,
    escapeCharacter: isWindows ? '|' : '\\',
  })
  return { ...parsed, files }
}

const withSlashes = (text: string): string =>
  /^\s*#escape\s*=\s*\\\s*$/m.test(text) ? text : text.replaceAll('\\', '/')

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
