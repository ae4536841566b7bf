/** An instruction of a Dockerfile, with its continuation lines joined. */
export interface Instruction {
  /** Name in capital letters, such as `FROM` or `EXPOSE`. */
  readonly name: string
  /** Everything after the name, trimmed. */
  readonly rest: string
}

/** The instructions of a Dockerfile, and its escape character, which is a backslash unless a directive changes it. */
export interface DockerfileLines {
  readonly instructions: readonly Instruction[]
  readonly escapeChar: '\\' | '`'
}

/**
 * Splits a Dockerfile into instructions. Drops comments and blank lines, including those inside an instruction. Joins
 * lines that end in the escape character with the next line, and skips the bodies of here-documents.
 * (https://docs.docker.com/reference/dockerfile/#format)
 */
export function dockerfileLines(text: string): DockerfileLines {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  const escapeChar = escapeDirective(lines)
  const continues = escapeChar === '\\' ? /(?<!\\)\\[ \t]*$/ : /(?<!`)`[ \t]*$/
  const instructions: Instruction[] = []
  let parts: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const isComment = /^\s*(#|$)/.test(line)
    const goesOn = isComment ? parts.length > 0 : continues.test(line)
    if (!isComment) parts.push(goesOn ? line.replace(continues, '') : line)
    if ((goesOn && at < lines.length - 1) || parts.length === 0) continue
    const match = /^\s*(\S+)\s*(.*)$/s.exec(parts.join(''))
    parts = []
    if (!match) continue
    const instruction = { name: match[1]!.toUpperCase(), rest: match[2]!.trim() }
    instructions.push(instruction)
    for (const terminator of hereDocuments(instruction)) at = endOfHereDocument(lines, at + 1, terminator)
  }
  return { instructions, escapeChar }
}

/**
 * Returns the escape character from the directives, which are comments of the form `# key=value` before anything else.
 */
function escapeDirective(lines: readonly string[]): '\\' | '`' {
  for (const line of lines) {
    const directive = /^\s*#\s*([A-Za-z][\w-]*)\s*=\s*(.*?)\s*$/.exec(line)
    if (!directive) break
    if (directive[1]!.toLowerCase() === 'escape') return directive[2] === '`' ? '`' : '\\'
  }
  return '\\'
}

interface Terminator {
  readonly word: string
  /** True for `<<-`, which ignores tabs before the terminator. */
  readonly tabs: boolean
}

/** Returns the terminators of an instruction's here-documents, from terms such as `<<EOF` and `<<-"EOF"`. */
function hereDocuments({ name, rest }: Instruction): Terminator[] {
  if (!['RUN', 'COPY', 'ADD'].includes(name) || !rest.includes('<<')) return []
  const found: Terminator[] = []
  for (const [word] of rest.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)) {
    const match = /^[0-9]*<<(-?)(["']?)([^\s<"']+)\2$/.exec(word)
    if (match) found.push({ word: match[3]!, tabs: match[1] === '-' })
  }
  return found
}

/** Returns the index of the line that ends a here-document, or the number of lines if none does. */
function endOfHereDocument(lines: readonly string[], from: number, { word, tabs }: Terminator): number {
  for (let at = from; at < lines.length; at++) {
    if ((tabs ? lines[at]!.replace(/^\t+/, '') : lines[at]) === word) return at
  }
  return lines.length
}
