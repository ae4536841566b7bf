import { drawsOn, type Io, type Output } from '../io.ts'
import { writeAsIs } from '../redacting.ts'
import { widthOf } from './frame.ts'

const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
/** Sequence that erases the current row. */
const ERASE = '\u001b[2K'
const UP = '\u001b[1A'

/** Erases the characters that the terminal echoes to the current row, such as `^C`. */
export function eraseRow(io: Pick<Io, 'stderr' | 'env'>): void {
  if (drawsOn(io)) writeAsIs(io.stderr, `\r${ERASE}`)
}

/**
 * Rows at the bottom of a terminal that are redrawn repeatedly. The rows must fit the width of the terminal, and leave
 * one row for the cursor.
 */
export class Screen {
  readonly #output: Output
  #drawn: readonly string[] = []
  #isHidden = false

  constructor(output: Output) {
    this.#output = output
  }

  /** Draws rows in place of the current ones. */
  draw(rows: readonly string[]): void {
    const isSame = rows.length === this.#drawn.length && rows.every((text, index) => text === this.#drawn[index])
    if (isSame && this.#height() === rows.length) return
    const hide = this.#isHidden ? '' : HIDE_CURSOR
    if (!this.#isHidden) process.once('exit', this.#showCursor)
    this.#isHidden = true
    // Written at once, so that a partial frame is never visible.
    writeAsIs(this.#output, `${hide}${this.#erased()}${rows.map(text => `${text}\n`).join('')}`)
    this.#drawn = rows
  }

  /** Erases the rows. */
  clear(): void {
    writeAsIs(this.#output, this.#erased())
    this.#drawn = []
  }

  /** Leaves the rows in place; later rows are drawn below them. */
  done(): void {
    this.#drawn = []
    if (!this.#isHidden) return
    this.#showCursor()
    process.removeListener('exit', this.#showCursor)
    this.#isHidden = false
  }

  readonly #showCursor = (): void => writeAsIs(this.#output, SHOW_CURSOR)

  /**
   * Returns the number of terminal rows that the frame occupies: a terminal that has become narrower wraps its lines.
   */
  #height(): number {
    const columns = this.#output.columns || Number.POSITIVE_INFINITY
    return this.#drawn.reduce((sum, text) => sum + Math.max(1, Math.ceil(widthOf(text) / columns)), 0)
  }

  #erased(): string {
    return `\r${`${UP}${ERASE}`.repeat(this.#height())}`
  }
}
