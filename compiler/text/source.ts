/** A place as people write it: `compose.yaml:8:5`. */
export function shownPlace({ file, start }: Span): string {
  const { line, column } = file.position(start)
  return `${file.path}:${line}:${column}`
}

/**
 * A text that was read, kept for positions and excerpts. Line starts are found once, as far as
 * positions are asked for.
 */
export class SourceFile {
  /**
   * Path as the user would write it: relative to the folder in which devctl was started if that is shorter, else
   * absolute.
   */
  readonly path: string
  readonly text: string
  /** Absolute path, or the display path where there is none (standard input). */
  readonly location: string
  /** True if it is outside the project and the user did not allow it: none of its text is shown. */
  readonly isOutside: boolean
  /** Starts of the lines that have been requested so far: a file may consist of line ends only. */
  readonly #lineStarts = [0]
  #areAllKnown = false
  /**
   * The position asked for last: the next one is often further on in the same line, which may be
   * megabytes long.
   */
  #last = { start: -1, offset: 0, column: 1 }

  constructor(path: string, text: string, location: string = path, isOutside = false) {
    this.path = path
    this.text = text
    this.location = location
    this.isOutside = isOutside
  }

  /** Line and column of an offset, both from 1; the column counts Unicode code points. */
  position(offset: number): Position {
    const starts = this.#lineStartsTo(offset)
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    const start = starts[low]!
    const known = this.#last.start === start && this.#last.offset <= offset ? this.#last : { offset: start, column: 1 }
    let { column } = known
    for (const _ of this.text.slice(known.offset, offset)) column++
    this.#last = { start, offset, column }
    return { line: low + 1, column }
  }

  /** The text of a line, counted from 1, without its line end. */
  line(number: number): string {
    let starts = this.#lineStartsTo(0)
    while (starts.length <= number && !this.#areAllKnown) starts = this.#lineStartsTo(starts.at(-1)!)
    const start = starts[number - 1]
    if (start === undefined) return ''
    const end = starts[number] ?? this.text.length + 1
    return this.text.slice(start, end - 1).replace(/\r$/, '')
  }

  /** The starts of all lines up to the one behind an offset; more where they are known. */
  #lineStartsTo(offset: number): readonly number[] {
    const starts = this.#lineStarts
    while (!this.#areAllKnown && starts.at(-1)! <= offset) {
      const end = this.text.indexOf('\n', starts.at(-1))
      if (end < 0) this.#areAllKnown = true
      else starts.push(end + 1)
    }
    return starts
  }
}

export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * A stretch of a source file; `start` and `end` are offsets in UTF-16 units, `end` is the first one
 * outside.
 */
export interface Span {
  readonly file: SourceFile
  readonly start: number
  readonly end: number
}

/** A value with its position. */
export interface At<T> {
  readonly value: T
  readonly span: Span
}
