import type { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { DOCKER_FLAGS, type DockerFlag } from './docker-flags.ts'
import { notCarriedOver } from './notes.ts'
import type { ShellWord } from './shell-words.ts'

export interface FoundFlag {
  readonly flag: DockerFlag
  readonly name: string
  /** Value that is in the same word as the flag: `--name=web`, `-p80:80`. */
  readonly value?: string
}

/** Splits a word into its flags (`-it`). If one of the flags does not exist, returns its name instead. */
export function splitFlags(word: string): readonly FoundFlag[] | string {
  if (word.startsWith('--')) {
    const at = word.indexOf('=')
    const name = at < 0 ? word : word.slice(0, at)
    const flag = Object.hasOwn(DOCKER_FLAGS, name.slice(2)) ? DOCKER_FLAGS[name.slice(2)] : undefined
    if (!flag) return name
    return [{ flag, name, ...(at >= 0 && { value: word.slice(at + 1) }) }]
  }
  const found: FoundFlag[] = []
  for (let at = 1; at < word.length; at++) {
    const flag = Object.values(DOCKER_FLAGS).find(({ short }) => short === word[at])
    const name = `-${word[at]}`
    if (!flag) return name
    const hasValue = word[at + 1] === '='
    const rest = word.slice(at + (hasValue ? 2 : 1))
    if (!flag.isSwitch || hasValue) {
      found.push({ flag, name, ...(rest !== '' && { value: rest }) })
      break
    }
    found.push({ flag, name })
  }
  return found
}

/** Flags of the engine itself that have a value in the next word. */
const WITH_VALUE = /^(?:-[HlcD]*[Hlc]|--(?:host|context|config|log-level|tlscacert|tlscert|tlskey|namespace|address))$/

/**
 * Returns the words after the engine's own flags, and the variables among the flags, which may contain other flags. The
 * engine's command follows them.
 */
export function withoutFlags(words: readonly ShellWord[]): Record<'rest' | 'unknown', readonly ShellWord[]> {
  const unknown: ShellWord[] = []
  for (let next = 0; next < words.length; next++) {
    const word = words[next]!
    if (word.isSeveral) unknown.push(word)
    else if (!word.text.startsWith('-')) return { rest: words.slice(next), unknown }
    else if (WITH_VALUE.test(word.text)) next++
  }
  return { rest: [], unknown }
}

/** Reports a variable that may contain flags. Returns true. */
export function reportFlags({ span }: ShellWord, command: string, reporter: Reporter): true {
  const what = span.file.text.slice(span.start, span.end)
  const why = `it may contain flags of \`${command}\``
  reporter.report(notCarriedOver, span, { what, why, hint: 'write the flags in its place' })
  return true
}

/** Matches the names of variables with an image, and of those with flags. */
const OF_IMAGES = /(?:image|img)(?:_?(?:name|tag|id|url|ref))?$/i
const OF_FLAGS = /(?:^|_)(?:opt|option|arg|flag|param|extra)s?(?:_|$)|(?:opts|options|args|flags|params)$/i

/**
 * Returns true if a word before the image is a variable that probably contains flags, and not the image: a list, a
 * variable with this name, or one before another flag or an image.
 */
export function containsFlags(word: ShellWord, next: ShellWord | undefined): boolean {
  if (word.isSeveral === undefined || !next) return false
  const { name, hasFlags } = variableOf(word)
  if (word.isSeveral === 'always' || hasFlags) return true
  if (OF_IMAGES.test(name)) return false
  if (OF_FLAGS.test(name)) return true
  if (next.text.startsWith('-')) return next.text === '--' || typeof splitFlags(next.text) !== 'string'
  return looksLikeImage(next)
}

/** Returns true for `name:tag`, `repository/name`, and a variable whose name says that it contains an image. */
const looksLikeImage = (word: ShellWord): boolean =>
  /^[a-z\d][\w.-]*(?::\d+)?(?:\/[\w.-]+)*[:/][\w.-]/.test(word.text) || OF_IMAGES.test(variableOf(word).name)

/** Returns the name of the variable that a word begins with. `hasFlags` is true if it has flags as a default. */
function variableOf({ span: { file, start } }: ShellWord): { readonly name: string; readonly hasFlags: boolean } {
  const [, name = '', operator = ''] = /^"?\$\{?(\w*)(:?-\s*-|:?\+)?/.exec(file.text.slice(start)) ?? []
  return { name, hasFlags: operator !== '' }
}
