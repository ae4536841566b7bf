/** A here-document of a script: lines that a program reads as its input, and that are not commands of the script. */
export interface HereDocument {
  /** The operator with the word that ends the document, as written: `<<'SQL'`. */
  readonly operator: string
  /**
   * Position of the first character of the here-document's text. `end` is the position after the line that ends the
   * document.
   */
  readonly start: number
  readonly end: number
}

const OPERATOR = /(?<!<)<<(-?)[ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|\\?([A-Za-z_][\w.-]*))/g

/**
 * Finds the here-documents of a script. Ignores an operator without an end, because it may be part of a text about
 * shells.
 */
export function hereDocuments(text: string): readonly HereDocument[] {
  const found: HereDocument[] = []
  for (const match of text.matchAll(OPERATOR)) {
    const [operator, dash, ...words] = match
    if (found.some(({ start, end }) => start <= match.index && match.index < end)) continue
    const word = words.find(one => one !== undefined)!
    // Several documents of one line follow each other.
    const line = text.indexOf('\n', match.index) + 1
    const start = Math.max(line, ...found.filter(one => one.start === line).map(({ end }) => end))
    const end = line === 0 ? undefined : endOf(text, start, word, dash === '-')
    if (end !== undefined) found.push({ operator, start, end })
  }
  return found
}

function endOf(text: string, start: number, word: string, stripsTabs: boolean): number | undefined {
  for (let at = start; at < text.length; ) {
    const next = text.indexOf('\n', at)
    const end = next < 0 ? text.length : next + 1
    const line = text.slice(at, end).replace(/\r?\n$/, '')
    if ((stripsTabs ? line.replace(/^\t+/, '') : line) === word) return end
    at = end
  }
  return undefined
}

/** A loop of a script, with the variables that it sets. */
export interface Loop {
  readonly variables: readonly string[]
  readonly start: number
  readonly end: number
}

/**
 * Matches the head of a loop, or the word `do` or `done` around the body of a loop. The named groups contain the
 * variables of the head.
 */
const TOKEN =
  /\bfor[ \t]+(?<variable>\w+)[ \t]+in\b|\bwhile[ \t][^\n;]{0,200}?\bread(?<names>(?:[ \t]+[-\w]+){1,50})|(?<=[\s;]|^)(?<word>do|done)(?=[\s;)&|<>]|$)/g

/** Finds the loops of a script that set variables: `for NAME in …` and `while read NAME …`. */
export function loopsIn(text: string): readonly Loop[] {
  const loops: Loop[] = []
  const open: (Omit<Loop, 'end'> | undefined)[] = []
  let head: Omit<Loop, 'end'> | undefined
  for (const { groups = {}, index } of text.matchAll(TOKEN)) {
    const { word, variable, names = '' } = groups
    if (word === 'do') {
      open.push(head)
      head = undefined
    } else if (word === 'done') {
      const loop = open.pop()
      if (loop) loops.push({ ...loop, end: index })
    } else {
      const read = names.split(/[ \t]+/).filter(name => /^[A-Za-z_]/.test(name))
      head = { variables: variable === undefined ? read : [variable], start: index }
    }
  }
  return loops
}
