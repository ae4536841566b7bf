import { defaultIgnores, IGNORE_FILE, ignoringFolders } from '../ignore/default-ignores.ts'
import { type IgnoreRules, parseIgnores } from '../ignore/ignore.ts'
import { onlyPaths, type PathRule } from '../ignore/path-rules.ts'
import { readIgnores } from './read-ignores.ts'

/** Inputs from which both sides build the same rules, such as the ignore file and the files that it includes. */
export interface IgnoreSource {
  /** Text of the ignore file; undefined if the file does not exist and the default patterns apply. */
  readonly text?: string
  readonly includes: Readonly<Record<string, string>>
  readonly foldCase: boolean
  readonly escapeCharacter: string
  /** Folders below the sync folder that other volumes of the container cover. */
  readonly excluded: readonly string[]
  /**
   * Rules for the paths to synchronize. If there are any, only the paths that at least one of them covers are
   * synchronized.
   */
  readonly rules: readonly PathRule[]
}

export const NO_IGNORES: IgnoreSource = {
  includes: {},
  foldCase: false,
  escapeCharacter: '\\',
  excluded: [],
  rules: [],
}

/**
 * Returns the rules of a sync folder on this machine. A missing ignore file is no error. Throws other errors of reading
 * it, and an Error about its first line that is no pattern: a file that it should ignore may be secret.
 */
export function ignoreSource(
  folder: string,
  excluded: readonly string[] = [],
  platform: NodeJS.Platform = process.platform,
): IgnoreSource {
  const read = readIgnores(folder, platform)
  if (!read) return { ...NO_IGNORES, excluded }
  const [problem] = read.problems
  if (problem) throw new Error(`${problem.file ?? IGNORE_FILE}, line ${problem.line}: ${problem.message}`)
  const isWindows = platform === 'win32'
  const texts = Object.entries(read.texts).map(
    ([name, text]) => [name, isWindows ? text.replaceAll('\\', '/') : text] as const,
  )
  return {
    text: texts.find(([name]) => name === IGNORE_FILE)![1],
    includes: Object.fromEntries(texts.filter(([name]) => name !== IGNORE_FILE)),
    foldCase: isWindows || platform === 'darwin',
    escapeCharacter: isWindows ? '|' : '\\',
    excluded,
    rules: [],
  }
}

/**
 * Builds the rules. `containerHas` returns true if the container has a folder at the path, and this folder did not come
 * from the laptop.
 */
export function toRules(source: IgnoreSource, containerHas: (folder: string) => boolean): IgnoreRules {
  const { text, includes, foldCase, escapeCharacter } = source
  const include = (name: string) => (Object.hasOwn(includes, name) ? includes[name] : undefined)
  const rules =
    text === undefined ? defaultIgnores(containerHas) : parseIgnores(text, include, { foldCase, escapeCharacter }).rules
  return onlyPaths(source.rules, ignoringFolders(rules, source.excluded))
}
