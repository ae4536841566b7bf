import { printable } from './printable.ts'

/**
 * Formats text as code in a line of Markdown. Forges do not detect mentions and issue references in code. Line ends
 * appear as `↵`. (https://spec.commonmark.org/0.31.2/#code-spans)
 */
export function code(text: string): string {
  const line = printable(text.replaceAll(/\r\n?|\n/g, '↵').replaceAll(/\p{Cc}/gu, ' '))
  if (line.trim() === '') return '` `'
  const fence = fenceFor(line, 1)
  const blank = line.startsWith('`') || line.endsWith('`') ? ' ' : ''
  return `${fence}${blank}${line}${blank}${fence}`
}

/** Formats text as code for a table cell, where a bar would end the cell even in code. */
export const cell = (text: string): string => code(text).replaceAll(/\\*\|/g, '\\|')

/** Formats lines as a code block in a language. */
export function block(language: string, lines: readonly string[]): string {
  const text = lines.map(printable).join('\n')
  const fence = fenceFor(text, 3)
  return `${fence}${language}\n${text}\n${fence}`
}

/** Returns a fence of at least `least` backticks that is longer than every run of backticks in a text. */
function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  return '`'.repeat(Math.max(least, longest + 1))
}

/**
 * HTML entity of a zero-width space, which readers do not see. In front of a text, it keeps forges from recognizing the
 * text as a mention or reference.
 */
const APART = '&#8203;'

/**
 * Formats plain text for a line of Markdown, so that nothing in it becomes markup, a mention, an issue reference or a
 * link. Names in backticks, as in devctl's messages, stay code.
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

/** Formats text as HTML, with names in backticks as code. */
export const html = (text: string): string =>
  printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' '))
    .replaceAll(/[&<>"@#!]/g, char => `&#${char.charCodeAt(0)};`)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')

/** Formats a collapsible section. `summary` is plain text with names in backticks. */
export function details(summary: string, content: string, isOpen = false): string {
  return `<details${isOpen ? ' open' : ''}>\n<summary>${html(summary)}</summary>\n\n${content}\n\n</details>`
}

/**
 * Formats text as a title of one line, which forges do not render as Markdown. Inserts blanks into mentions and issue
 * numbers, so that they notify nobody. Truncates the title to `longest` characters.
 */
export function title(text: string, longest: number): string {
  const line = printable(text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()).replaceAll(
    /(?<![\w/])@(?=\w)|[#!](?=\d)/g,
    '$& ',
  )
  return line.length > longest ? `${line.slice(0, longest - 1).trimEnd()}…` : line
}
