import { defaultIgnores, IGNORE_FILE, ignoringFolders } from '../ignore/default-ignores.ts'
import { type IgnoreRules, parseIgnores } from '../ignore/ignore.ts'
import { onlyPaths, type PathRule } from '../ignore/path-rules.ts'
import { readIgnores } from './read-ignores.ts'

/** What both sides make the same rules of: an ignore file, with those that it includes. */
export interface IgnoreSource {
  /** Undefined: there is no ignore file, and the defaults apply. */
  readonly text?: string
  readonly includes: Readonly<Record<string, string>>
  readonly foldCase: boolean
  readonly escapeCharacter: string
  /** Folders below this one that other volumes of the container cover. */
  readonly excluded: readonly string[]
  /** Not empty: only what one of them is about is synchronized. */
  readonly rules: readonly PathRule[]
}

export const NO_IGNORES: IgnoreSource = {
  includes: {},
  foldCase: false,
  escapeCharacter: '\\',
  excluded: [],
  rules: [],
}

/** The rules of a sync folder on this machine. Throws what reading the ignore file throws, unless there is none. */
export function ignoreSource(
  folder: string,
  excluded: readonly string[] = [],
  platform: NodeJS.Platform = process.platform,
): IgnoreSource {
  const read = readIgnores(folder, platform)
  if (!read) return { ...NO_IGNORES, excluded }
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

/** `containerHas`: the container has a folder at this path that did not come from the laptop. */
export function toRules(source: IgnoreSource, containerHas: (folder: string) => boolean): IgnoreRules {
  const { text, includes, foldCase, escapeCharacter } = source
  const include = (name: string) => (Object.hasOwn(includes, name) ? includes[name] : undefined)
  const rules =
    text === undefined ? defaultIgnores(containerHas) : parseIgnores(text, include, { foldCase, escapeCharacter }).rules
  return onlyPaths(source.rules, ignoringFolders(rules, source.excluded))
}
