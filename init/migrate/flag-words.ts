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

/** Matches flags of the container engine itself whose value is the next word. */
const WITH_VALUE = /^(?:-[HlcD]*[Hlc]|--(?:host|context|config|log-level|tlscacert|tlscert|tlskey|namespace|address))$/

/**
 * Removes the engine's own flags from the words of a command. `rest` begins with the engine's command, such as `run`;
 * `unknown` contains the variables among the flags, which may contain further flags.
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

/** Reports a variable that may contain flags, at the position of the word. Always returns true. */
export function reportFlags({ span }: ShellWord, command: string, reporter: Reporter): true {
  const what = span.file.text.slice(span.start, span.end)
  const why = `it may contain flags of \`${command}\``
  reporter.report(notCarriedOver, span, { what, why, hint: 'write the flags in its place' })
  return true
}

/**
 * Matches names of variables that probably contain an image. `OF_FLAGS` matches names of variables that probably
 * contain flags.
 */
const OF_IMAGES = /(?:image|img)(?:_?(?:name|tag|id|url|ref))?$/i
const OF_FLAGS = /(?:^|_)(?:opt|option|arg|flag|param|extra)s?(?:_|$)|(?:opts|options|args|flags|params)$/i

/**
 * Returns true if a word before the image is a variable that probably contains flags, and not the image. Signs of this
 * are a list, a name such as `OPTS`, and a next word that is another flag or the image. `next` is undefined for the
 * last word.
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

/** Returns true for `name:tag`, `repository/name`, and a variable whose name ends like `IMAGE` or `IMAGE_TAG`. */
const looksLikeImage = (word: ShellWord): boolean =>
  /^[a-z\d][\w.-]*(?::\d+)?(?:\/[\w.-]+)*[:/][\w.-]/.test(word.text) || OF_IMAGES.test(variableOf(word).name)

/**
 * Returns the name of the variable at the start of a word. `hasFlags` is true if the default of the variable begins
 * with `-`, or if the variable has the operator `+`.
 */
function variableOf({ span: { file, start } }: ShellWord): { readonly name: string; readonly hasFlags: boolean } {
  const [, name = '', operator = ''] = /^"?\$\{?(\w*)(:?-\s*-|:?\+)?/.exec(file.text.slice(start)) ?? []
  return { name, hasFlags: operator !== '' }
}
