import { widthOf } from '../../../cli/terminal/progress/frame.ts'

/**
 * A terminal that knows the sequences of a live display, wraps as terminals do, and remembers what scrolled off its
 * top.
 */
export class Terminal {
  columns: number
  rows: number
  readonly isTTY = true
  /** Rows from the first that was ever written. */
  #lines: string[] = ['']
  #row = 0
  #column = 0

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  readonly write = (text: string): boolean => {
    for (const [token] of text.matchAll(/\u001b\[[?]?[0-9;]*[a-zA-Z]|[\s\S]/gu)) this.#take(token)
    return true
  }

  /** Rows that are visible. */
  get screen(): readonly string[] {
    return this.#lines.slice(this.#top())
  }

  /** Rows that have scrolled off the top of the screen, where no sequence reaches them any more. */
  get scrolled(): readonly string[] {
    return this.#lines.slice(0, this.#top())
  }

  /** Makes it narrower or wider: what is wider than it is wrapped, as most terminals do. */
  resize(columns: number, rows: number): void {
    const wrapped = this.#lines.map(line => chunks(line.trimEnd(), columns))
    const row = wrapped.slice(0, this.#row).reduce((sum, { length }) => sum + length, 0)
    this.#lines = wrapped.flat()
    this.#row = row
    this.columns = columns
    this.rows = rows
  }

  #top(): number {
    return Math.max(0, this.#lines.length - this.rows)
  }

  #take(token: string): void {
    const [, number = '', letter] = /^\u001b\[[?]?([0-9;]*)([a-zA-Z])$/.exec(token) ?? []
    if (token === '\n') this.#down()
    else if (token === '\r') this.#column = 0
    else if (letter === undefined) this.#print(token)
    else if (letter === 'A') this.#row = Math.max(this.#top(), this.#row - Number(number || 1))
    else if (letter === 'G') this.#column = Number(number || 1) - 1
    else if (letter === 'K') this.#lines[this.#row] = ''
    else if (!'mhl'.includes(letter)) throw new Error(`the terminal does not know ${JSON.stringify(token)}`)
  }

  #down(): void {
    this.#row++
    this.#column = 0
    if (this.#row === this.#lines.length) this.#lines.push('')
  }

  #print(letter: string): void {
    const width = widthOf(letter)
    if (this.#column + width > this.columns) this.#down()
    const line = this.#lines[this.#row]!.padEnd(this.#column)
    this.#lines[this.#row] = line.slice(0, this.#column) + letter + line.slice(this.#column + 1)
    this.#column += width
  }
}

function chunks(line: string, columns: number): string[] {
  const found: string[] = []
  for (let at = 0; at === 0 || at < line.length; at += columns) found.push(line.slice(at, at + columns))
  return found
}
