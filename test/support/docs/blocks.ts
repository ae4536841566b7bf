import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../cases.ts'

/** A code block of a page for readers. */
export interface Block {
  /** The page, from the root of the checkout. */
  readonly page: string
  /** The line of its first line of code, from 1. */
  readonly line: number
  /** The first word behind the fence: `sh`, `console`, `yaml`; `sh` for an indented block. */
  readonly language: string
  /** The words after it, which say how the block is tested: `compose`, `devctl`, `in=examples/voting`. */
  readonly marks: readonly string[]
  readonly text: string
}

/** The first pages of the list: a merge waits for the first session of each kind, which is on one of them. */
const FIRST: readonly string[] = ['README.md', 'docs/tour.md']

/** The pages that people read and that no generator writes. */
export const pages: readonly string[] = [
  ...FIRST,
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`)
    .toSorted()
    .filter(page => !FIRST.includes(page)),
  'examples/README.md',
  'examples/cdk8s/README.md',
  'examples/gitops/README.md',
]

/** The fenced and indented code blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  const lines = readFileSync(join(root, page), 'utf8').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; at++) {
    const fence = /^```(.*)$/.exec(lines[at]!)
    const end = fence ? lines.indexOf('```', at + 1) : endOfIndented(lines, at)
    if (end === undefined) continue
    const [language = '', ...marks] = fence ? fence[1]!.trim().split(/\s+/) : ['sh']
    const first = fence ? at + 1 : at
    const text = lines.slice(first, end).map(line => (fence ? line : line.slice(4)))
    blocks.push({ page, line: first + 1, language, marks, text: `${text.join('\n')}\n` })
    at = fence ? end : end - 1
  }
  return blocks
}

/** Returns the end of the indented block that begins at this line; undefined if none begins here. */
function endOfIndented(lines: readonly string[], at: number): number | undefined {
  if (!/^ {4}\S/.test(lines[at]!) || lines[at - 1] !== '') return undefined
  let end = at
  while (end < lines.length && /^ {4}/.test(lines[end]!)) end++
  return end
}

/** The value of a mark: `examples/voting` of `in=examples/voting`. */
export function markOf(block: Block, name: string): string | undefined {
  return block.marks.find(mark => mark.startsWith(`${name}=`))?.slice(name.length + 1)
}

/** A command line of a block, with the output that the block shows below it. */
export interface Shown {
  readonly line: number
  readonly command: string
  readonly output: readonly string[]
}

/**
 * The command lines of a block: in a `console` block what stands behind `$ `, with the lines below it as output; in any
 * other block each line, with lines that end in a backslash joined.
 */
export function commandsOf(block: Block): readonly Shown[] {
  const shown: { line: number; command: string; output: string[] }[] = []
  const isConsole = /^\$ /m.test(block.text)
  let isOpen = false
  for (const [index, text] of block.text.trimEnd().split('\n').entries()) {
    const last = shown.at(-1)
    if (isOpen) last!.command += ` ${text.trim().replace(/\\$/, '')}`
    else if (!isConsole || text.startsWith('$ '))
      shown.push({ line: block.line + index, command: text.replace(/^\$ /, '').replace(/\\$/, ''), output: [] })
    else last?.output.push(text)
    isOpen = text.endsWith('\\')
  }
  return shown
}

/**
 * The words of each command in a shell line: of `A=1 devctl x 'a b' | sh # why` they are `[devctl, x, a b]` and `[sh]`.
 */
export function wordsOf(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]]
  const token = /\s*(?:(#.*)|\d?>{1,2}\s*(\S+)|(&&|\|\||[|;&])|((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"|;&\\])+))/gy
  for (const [, comment, target, operator, word] of line.matchAll(token)) {
    if (comment !== undefined) break
    if (target !== undefined) continue
    if (operator !== undefined) commands.push([])
    else commands.at(-1)!.push(unquote(word!))
  }
  return commands.map(words => words.filter((word, index) => !isSetting(words, word, index))).filter(words => words[0])
}

/** The variables that are set before the program of a shell line. */
export const settingsOf = (line: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...(/^(?:\w+=\S*\s+)*/.exec(line)?.[0] ?? '').matchAll(/(\w+)=(\S*)/g)].map(([, name, value]) => [name, value]),
  )

/** `NAME=value` before the program. */
const isSetting = (words: readonly string[], word: string, index: number): boolean =>
  /^\w+=/.test(word) && words.slice(0, index).every(before => /^\w+=/.test(before))

const unquote = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
    (_, single, double, escaped) => single ?? double?.replace(/\\(.)/g, '$1') ?? escaped,
  )

/**
 * Matches what a command prints where a page shows these lines: `…` stands for any lines, or any end of a line; times,
 * the ends of Pods' names and the hashes of commits for any others; columns may be wider.
 */
export function printed(lines: readonly string[]): RegExp {
  const patterns = lines.map(line => {
    if (line.trim() === '…') return '(?:.*\\n)*?'
    const text = line
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/…$/, '.*')
      .replace(/ *\d+(?:\\\.\d+)? (m?s)(?= {2}|\\\))/g, ' *(?:\\d+ min )?[\\d.]+ $1')
      .replace(/\b\d+[smh](?= {2})/g, '\\d+[smh]\\w*')
      .replace(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?= \\\|)/g, '-\\w{5}')
      .replace(/\b(?:[0-9a-f]{40}|[0-9a-f]{64}|(?=[a-f]*\d)[0-9a-f]{7}(?:[0-9a-f]{5})?)\b/g, '[0-9a-f]{7,64}')
      .replace(/\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/g, '\\d{4}/\\d\\d/\\d\\d \\d\\d:\\d\\d:\\d\\d')
      .replace(/(?<=\S) {2,}/g, ' +')
    return `${text}\\n`
  })
  return new RegExp(`^${patterns.join('')}$`)
}
