import { printable } from './printable.ts'

/**
 * Text as code in a line of Markdown. Forges look for neither mentions nor references to issues in
 * code. A line end is shown as `↵`. (https://spec.commonmark.org/0.31.2/#code-spans)
 */
export function code(text: string): string {
  const line = printable(text.replaceAll(/\r\n?|\n/g, '↵').replaceAll(/\p{Cc}/gu, ' '))
  if (line.trim() === '') return '` `'
  const fence = fenceFor(line, 1)
  const blank = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${blank}${line}${blank}${fence}`
}

/** Returns text as code for a table cell, where a bar would end the cell even in code. */
export const cell = (text: string): string => code(text).replaceAll(/\\*\|/g, '\\|')

/** Lines as a block of code in some language. */
export function block(language: string, lines: readonly string[]): string {
  const text = lines.map(printable).join('\n')
  const fence = fenceFor(text, 3)
  return `${fence}${language}\n${text}\n${fence}`
}

/** Longer than every run of backticks in a text. */
function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  return '`'.repeat(Math.max(least, longest + 1))
}

/** A zero-width blank: what follows it is not a name or number to a forge, and looks the same. */
const APART = '&#8203;'

/**
 * Plain text in a line of Markdown: nothing in it is markup, pings anyone, refers to an issue or
 * becomes a link. Names in backticks, as in messages of devctl, stay code.
 */
export function prose(text: string): string {
  const line = printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim())
  return line
    .split(/(`[^`]+`)/)
    .map((part, index) => (index % 2 === 1 ? code(part.slice(1, -1)) : plain(part)))
    .join('')
}

const plain = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll(/[\\`*_{}[\]<>~|$]/g, char => (char === '<' ? '&lt;' : char === '>' ? '&gt;' : `\\${char}`))
    .replaceAll(/([@#!%])(?=\w)|(&amp;)(?=\d)|(:)(?=\/\/)|\b(www)(?=\.)|\b(GH)(?=-\d)/gi, found => `${found}${APART}`)

/** Text in HTML, with code in place of names in backticks. */
export const html = (text: string): string =>
  printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' '))
    .replaceAll(/[&<>"@#!]/g, char => `&#${char.charCodeAt(0)};`)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** A collapsible section. `summary` is plain text, names in backticks. */
export function details(summary: string, content: string, isOpen = false): string {
  return `<details${isOpen ? ' open' : ''}>\n<summary>${html(summary)}</summary>\n\n${content}\n\n</details>`
}

/**
 * Returns a line of text for titles that is never interpreted as markup: mentions and issue numbers that would notify
 * other users are split by a blank.
 */
export function title(text: string, longest: number): string {
  const line = printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()).replaceAll(
    /(?<![\w/])@(?=\w)|[#!](?=\d)/g,
    '$& ',
  )
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line
}
