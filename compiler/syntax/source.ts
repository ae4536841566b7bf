/** A text that was read, kept for positions and excerpts. Line starts are found once, when the first position is asked for. */
export class SourceFile {
  /** As the user would write it: relative to the folder devctl was started in where that is shorter, else absolute. */
  readonly path: string
  readonly text: string
  /** Absolute path, or the display path where there is none (standard input). */
  readonly location: string
  /** It lies outside of the project: nothing of its text is shown. */
  readonly isOutside: boolean
  #lineStarts: number[] | undefined
  /** The position asked for last: the next one is often further on in the same line, which may be megabytes long. */
  #last = { start: -1, offset: 0, column: 1 }

  constructor(path: string, text: string, location: string = path, isOutside = false) {
    this.path = path
    this.text = text
    this.location = location
    this.isOutside = isOutside
  }

  /** Line and column of an offset, both from 1; the column counts Unicode code points. */
  position(offset: number): Position {
    const starts = this.lineStarts()
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
    const starts = this.lineStarts()
    const start = starts[number - 1]
    if (start === undefined) return ''
    const end = starts[number] ?? this.text.length + 1
    return this.text.slice(start, end - 1).replace(/\r$/, '')
  }

  private lineStarts(): number[] {
    if (this.#lineStarts === undefined) {
      const starts = [0]
      for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1)
      this.#lineStarts = starts
    }
    return this.#lineStarts
  }
}

export interface Position {
  readonly line: number
  readonly column: number
}

/** A stretch of a source file; `start` and `end` are offsets in UTF-16 units, `end` is the first one outside. */
export interface Span {
  readonly file: SourceFile
  readonly start: number
  readonly end: number
}

/** A value with the place it was written at. */
export interface At<T> {
  readonly value: T
  readonly span: Span
}
