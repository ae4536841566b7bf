/** Formats a position for people, such as `compose.yaml:8:5`. */
export function shownPlace({ file, start }: Span): string {
  const { line, column } = file.position(start)
  return `${file.path}:${line}:${column}`
}

/**
 * A text that was read, kept for positions and excerpts. Line starts are determined once, as far as they are needed.
 */
export class SourceFile {
  /** Path for messages: relative to the folder that devctl was started in if that is shorter, otherwise absolute. */
  readonly path: string
  readonly text: string
  /** Absolute path. If the file has none (standard input), the display path. */
  readonly location: string
  /** True if the file is outside the project and the user did not allow it. None of its text may be shown. */
  readonly isOutside: boolean
  /**
   * Starts of the lines that were needed so far. They are not all computed at once, because a file may consist only of
   * line ends.
   */
  readonly #lineStarts = [0]
  #areAllKnown = false
  /**
   * The position that was computed last. The next position is often later in the same line and is then computed from
   * it, because a line may be megabytes long.
   */
  #last = { start: -1, offset: 0, column: 1 }

  constructor(path: string, text: string, location: string = path, isOutside = false) {
    this.path = path
    this.text = text
    this.location = location
    this.isOutside = isOutside
  }

  /** Returns the line and column of an offset, both starting at 1. The column counts Unicode code points. */
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

  /** Returns the text of a line without its line end. Lines are counted from 1. */
  line(number: number): string {
    let starts = this.#lineStartsTo(0)
    while (starts.length <= number && !this.#areAllKnown) starts = this.#lineStartsTo(starts.at(-1)!)
    const start = starts[number - 1]
    if (start === undefined) return ''
    const end = starts[number] ?? this.text.length + 1
    return this.text.slice(start, end - 1).replace(/\r$/, '')
  }

  /**
   * Returns the starts of all lines up to the first line after an offset, and of later lines if they are already known.
   */
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

/** A part of a source file. `start` and `end` are offsets in UTF-16 code units; `end` is exclusive. */
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
