import { type Completion, isPrintable, type Suggestion } from './completion.ts'
import { quoteForBash, quoteForPowershell, type ShellWords } from './shell-words.ts'

/** Returns the lines for the scripts of zsh: the kind, then `VALUE:DESCRIPTION`, with backslashes before colons. */
export function replyToZsh(completion: Completion): readonly string[] {
  const escaped = (text: string) => text.replace(/[\\:]/g, '\\$&')
  const lines = shown(completion).map(
    ({ value, description }) => `${escaped(value)}${description ? `:${description}` : ''}`,
  )
  return [completion.kind, ...lines]
}

/**
 * Returns the lines for the script of fish: the kind, then each candidate as a whole argument with its description. For
 * files and folders, the kind is followed by the part of the argument before the path, and by the path.
 */
export function replyToFish(completion: Completion, current: string): readonly string[] {
  const { kind, prefix } = completion
  if (kind === 'files' || kind === 'folders') return [kind, prefix, current.slice(prefix.length)]
  const lines = shown(completion).map(({ value, description }) => withTab(`${prefix}${value}`, description))
  return [kind, ...lines]
}

/**
 * Returns the lines that kubectl expects from a program `kubectl_complete-devctl`. Values that a shell would have to
 * quote are left out: the script of kubectl for bash expands the candidates (`compgen -W`), which runs `$(…)` in them,
 * and inserts them without quotes.
 */
export function replyToKubectl(completion: Completion, current: string): readonly string[] {
  const lines = begun(completion, current).flatMap(({ value, description }) =>
    PLAIN.test(value) ? [withTab(value, description?.replace(EXPANDED, ''))] : [],
  )
  // https://pkg.go.dev/github.com/spf13/cobra#ShellCompDirective
  const directive = { values: 4, 'no-space': 4 + 2, files: 0, folders: 16 }[completion.kind]
  return [...lines, `:${directive}`]
}

/** Matches values that need no quotes in any shell. */
const PLAIN = /^[\w.:/@=+,-]+$/
const EXPANDED = /[$`\\]/g

/**
 * Returns the lines for the script of PowerShell: the kind, then the text to insert, the shown text and a description.
 */
export function replyToPowershell(completion: Completion, current: string): readonly string[] {
  const lines = begun(completion, current).map(({ value, description }) =>
    [quoteForPowershell(`${completion.prefix}${value}`), value, description || value].join('\t'),
  )
  return [completion.kind, ...lines]
}

/** A command line in bash up to the cursor, and the way in which bash shows candidates for it. */
export interface BashQuestion extends ShellWords {
  /**
   * The part of the last argument that bash replaces, as typed. It begins after the last quote, `=` or `:` at which
   * bash splits the line.
   */
  readonly replaced: string
  /** True if bash only lists the candidates. */
  readonly isList: boolean
  /** Width of the terminal. */
  readonly columns: number
}

/**
 * Returns the lines for the script of bash: the kind, then a line for each candidate. The line contains the text to
 * insert in place of `replaced`. If bash only lists the candidates and there are several, the line contains the
 * candidate and its description.
 */
export function replyToBash(completion: Completion, question: BashQuestion): readonly string[] {
  const found = begun(completion, question.current)
  if (question.isList && found.length > 1) return [completion.kind, ...inColumns(found, question.columns)]
  const kept = keptLength(question)
  const lines = found.map(({ value }) => quoteForBash(`${completion.prefix}${value}`.slice(kept), question.quote))
  return [completion.kind, ...lines]
}

/** Returns the number of characters of the argument, without quotes, that precede `replaced`. */
function keptLength({ current, replaced }: BashQuestion): number {
  const plain = replaced.replace(/^["']/, '').replace(/\\(.)/g, '$1')
  return current.endsWith(plain) ? current.length - plain.length : 0
}

function inColumns(candidates: readonly Suggestion[], columns: number): readonly string[] {
  const width = Math.max(...candidates.map(({ value }) => value.length)) + 2
  const room = columns - width - 3
  return candidates.map(({ value, description }) => {
    if (!description || room < 10) return value
    const text = description.length > room ? `${description.slice(0, room - 1)}…` : description
    return `${value.padEnd(width)}(${text})`
  })
}

/** Returns the candidates that continue what the user has typed. */
function begun(completion: Completion, current: string): readonly Suggestion[] {
  const typed = current.slice(completion.prefix.length)
  return shown(completion).filter(({ value }) => value.startsWith(typed))
}

function shown(completion: Completion): readonly Suggestion[] {
  if (!('candidates' in completion)) return []
  return completion.candidates.flatMap(({ value, description = '' }) =>
    isPrintable(value) ? [{ value, description: isPrintable(description) ? description : '' }] : [],
  )
}

const withTab = (value: string, description: string | undefined): string =>
  description ? `${value}\t${description}` : value
