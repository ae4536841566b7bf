import type { SourceFile, Span } from '../../compiler/text/source.ts'
import { readAnsiCQuote } from './ansi-c-quote.ts'
import { hereDocuments } from './shell-blocks.ts'
import { readExpansion } from './shell-expansions.ts'

/** A word of a shell command, as a value of a Compose file: variables are `${NAME}`, literal dollar signs `$$`. */
export interface ShellWord {
  readonly text: string
  readonly span: Span
  /**
   * Commands in `$(…)` or backticks whose output the word contains, except `pwd`, which is the variable `PWD`.
   */
  readonly commands: readonly string[]
  /** Parameters of the script (`$1`) and expansions that only a shell computes (`${NAME%.*}`) in the word. */
  readonly parameters: readonly string[]
  /**
   * `perhaps` if the word is a variable without quotes, `always` if it is a list such as `"$@"`. Absent for a word that
   * stays one word.
   */
  readonly isSeveral?: 'perhaps' | 'always'
}

export interface ShellCommand {
  readonly words: readonly ShellWord[]
  /** Problem that ends the command early, such as a quote that is not closed. */
  readonly problem?: ShellProblem
  /** Redirection of the command's input: `<<SQL`, `< dump.sql`. */
  readonly input?: string
  /** Position of the command in its file. */
  readonly start: number
  readonly end: number
}

export interface ShellProblem {
  readonly text: string
  readonly hint: string
}

/** Matches `NAME=value` before a command. */
const ASSIGNMENT = /[A-Za-z_]\w*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"';&|])*/
/** Matches an option of `sudo`, `doas` or `env`, together with the next word if that is the value of the option. */
const OPTION = /-[A-Za-z]*[ugpCDhRrtTS][ \t]+[^\s-]\S*|--(?:user|group|prompt|host|chdir|role|type|unset)[ \t]+\S+|-\S+/
/** Matches a program that runs the command after it, such as `sudo`, together with its options. */
const RUNNER = new RegExp(
  `(?:sudo|doas|env)(?:[ \\t]+(?:${OPTION.source}))*|nice(?:[ \\t]+-n?[ \\t]*-?\\d+)*|timeout(?:[ \\t]+-\\S+)*[ \\t]+[\\d.]+[smhd]?|exec|time|nohup|command|setsid`,
)
/**
 * Matches the text directly before a command: the start of a line with an optional prompt, an operator, or the end of a
 * `case` pattern.
 */
const BEGINNING = /^[ \t]*(?:[$>%][ \t]+)?|[;&|(){`!][ \t]*/
const KEYWORD = /(?:then|do|else|if|elif|while|until|!)[ \t]+/

/** Matches a program that runs containers, where a command can begin. */
const ENGINE = new RegExp(
  `((?:${BEGINNING.source})(?:${KEYWORD.source})*(?:(?:${RUNNER.source}|${ASSIGNMENT.source})[ \\t]+)*)(?:/\\S*/)?(?:docker|podman|nerdctl)[ \\t]`,
  'gm',
)
/**
 * Matches text that looks like `docker run`, at any position, such as in quotes or as an argument of another program.
 */
const MENTION = /(?:docker|podman|nerdctl)["']?[ \t]+(?:container[ \t]+)?run[ \t]+-/g

/**
 * Text that looks like `docker run`, but is not migrated, because no command begins there. `why` is the reason, for a
 * message.
 */
export interface UnreadCommand {
  readonly why: string
  readonly span: Span
}

/** Finds texts in a script that look like `docker run`, outside comments and the commands that were found. */
export function unreadCommands(file: SourceFile, found: readonly ShellCommand[]): readonly UnreadCommand[] {
  const documents = hereDocuments(file.text)
  return [...file.text.matchAll(MENTION)].flatMap(({ 0: text, index }) => {
    const before = file.text.slice(file.text.lastIndexOf('\n', index - 1) + 1, index)
    const isRead = found.some(({ start, end }) => start <= index && index < end)
    if (isRead || /^[ \t]*#/.test(before)) return []
    const inside = documents.find(({ start, end }) => start <= index && index < end)
    const why = inside
      ? `it is in the here-document \`${inside.operator}\`, which is the input of a program`
      : `it is not at the beginning of a command, but after \`${before.trim()}\``
    return [{ why, span: { file, start: index, end: index + text.replace(/[ \t]+-$/, '').length } }]
  })
}

/**
 * Finds the commands of container engines in a script, or in the text of a page, and splits them into words as a shell
 * does: quotes, escapes and continuation lines, also those of PowerShell and cmd.exe. Does not run or expand anything.
 */
export function engineCommands(file: SourceFile): readonly ShellCommand[] {
  const { text } = file
  const commands: ShellCommand[] = []
  const documents = hereDocuments(text)
  let done = 0
  for (const { 1: before = '', index } of text.matchAll(ENGINE)) {
    const start = index + before.length
    const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, start)
    if (start < done || /^[ \t]*#/.test(line) || documents.some(one => one.start <= start && start < one.end)) continue
    const isInline = before.endsWith('`') || line.split('`').length % 2 === 0
    const command = readCommand(file, start, isInline)
    commands.push(command)
    done = command.end
  }
  return commands
}

function readCommand(file: SourceFile, start: number, isInline: boolean): ShellCommand {
  const { text } = file
  const words: ShellWord[] = []
  let at = start
  while (at < text.length) {
    const rest = text.slice(at, at + 3)
    if (/^\\\r?\n/.test(rest) || (!isInline && continuesElsewhere(text, at))) at = endOfLine(text, at) + 1
    else if (/^[ \t\r]/.test(rest)) at++
    else if (rest[0] === '#' && !isInline) return { words, start, end: endOfLine(text, at) }
    else if (/^(?:[\n;&|()]|\d?[<>]|#)/.test(rest) || (isInline && rest[0] === '`')) break
    else {
      const word = readWord(file, at, isInline)
      at = word.at
      if (word.problem !== undefined) return { words, problem: word.problem, start, end: at }
      words.push(word.word)
    }
  }
  const input = /^<{1,2}-?[ \t]*[^\s;&|<>()]+/.exec(text.slice(at, at + 200))?.[0]
  return { words, ...(input !== undefined && !input.startsWith('<<<') && { input }), start, end: at }
}

/**
 * True if the character at `at` continues a line in another shell than sh: a backtick at the end of a line in
 * PowerShell, or a caret in cmd.exe.
 */
const continuesElsewhere = (text: string, at: number): boolean =>
  /^[`^]$/.test(text[at] ?? '') && /^[ \t\r]*$/.test(text.slice(at + 1, endOfLine(text, at)))

const endOfLine = (text: string, at: number): number => {
  const next = text.indexOf('\n', at)
  return next < 0 ? text.length : next
}

interface ReadWord {
  readonly word: ShellWord
  readonly at: number
  readonly problem?: ShellProblem
}

function readWord(file: SourceFile, start: number, isInline: boolean): ReadWord {
  const { text } = file
  const commands: string[] = []
  const parameters: string[] = []
  let value = ''
  let at = start
  let quote: '"' | "'" | undefined
  /** Position after the unquoted variable at the start of the word; `start` if the word begins with something else. */
  let variableEnd = start
  const result = (problem?: ShellProblem): ReadWord => ({
    word: {
      text: value,
      span: { file, start, end: at },
      commands,
      parameters,
      ...severalIn(text.slice(start, at), variableEnd === at),
    },
    at,
    ...(problem !== undefined && { problem }),
  })
  while (at < text.length) {
    const char = text[at]!
    if (quote === "'") {
      if (char === "'") quote = undefined
      else value += char === '$' ? '$$' : char
      at++
    } else if (char === '\\') {
      const next = text[at + 1] ?? ''
      const isBreak = /^\r?\n/.test(text.slice(at + 1, at + 3))
      if (isBreak) at = endOfLine(text, at) + 1
      else {
        const isLiteral = quote === '"' && !/["\\$`]/.test(next)
        value += `${isLiteral ? '\\' : ''}${next === '$' ? '$$' : next}`
        at += 2
      }
    } else if (!quote && text.startsWith("$'", at)) {
      const quoted = readAnsiCQuote(text, at)
      if (!quoted) return result({ text: "a quote (`$'`) is not closed", hint: 'close it' })
      if (quoted.value === undefined)
        return result({ text: "a value in `$'…'` is not UTF-8 text", hint: 'write the value in a file, and use `-v`' })
      value += quoted.value.replaceAll('$', '$$$$')
      at = quoted.end
    } else if (!quote && text.startsWith('$"', at)) {
      // A text to be translated; without a catalogue, bash uses it as it is.
      at++
    } else if (char === '"') {
      quote = quote ? undefined : '"'
      at++
    } else if (char === "'" && !quote) {
      quote = "'"
      at++
    } else if (!quote && (/[\s;&|()<>]/.test(char) || (isInline && char === '`'))) break
    else {
      const expansion = readExpansion(text.slice(at, at + 2000), quote !== undefined)
      if (at === start && expansion.isVariable) variableEnd = start + expansion.length
      value += expansion.value
      if (expansion.command !== undefined) commands.push(expansion.command)
      if (expansion.parameter !== undefined) parameters.push(expansion.parameter)
      at += expansion.length
    }
  }
  return quote ? result({ text: `a quote (\`${quote}\`) is not closed`, hint: 'close it' }) : result()
}

/** Matches the parameters of a script, or the items of an array. */
const LIST = /^"?\$(?:[@*]|\{(?:[@*]|\w+\[[@*]\])\})"?$/

const severalIn = (word: string, isVariable: boolean): Pick<ShellWord, 'isSeveral'> =>
  LIST.test(word) ? { isSeveral: 'always' } : isVariable && word !== '' ? { isSeveral: 'perhaps' } : {}
