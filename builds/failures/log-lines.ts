/** A line is not kept any longer than this: it is cut. */
const LONGEST_LINE = 1 << 14
/** Longest part of a line, in characters, that is searched for secrets. */
const LONGEST_PIECE = 1 << 16
/** Characters to drop before the cut in a line that is too long: half of a secret may be there. */
const UNCERTAIN = 1 << 12

/**
 * Makes lines of what a step prints. Pieces may end in the middle of a line or of a UTF-8
 * character, so a secret is found only in the whole line: what has no end yet is not shown. A
 * carriage return begins the line again, as on a terminal.
 */
export class LogLines {
  readonly #mask: (text: string) => string
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(mask: (text: string) => string) {
    this.#mask = mask
  }

  /** The lines that end in a piece, masked. */
  push(bytes: Uint8Array): readonly string[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }))
  }

  /** The rest of the step's output, which has no line end. */
  end(): readonly string[] {
    const lines = this.#take(this.#decoder.decode())
    const rest = this.#rest
    this.#rest = ''
    return rest === '' ? lines : [...lines, this.#shown(rest)]
  }

  #take(text: string): readonly string[] {
    const lines = (this.#rest + text).split('\n')
    const rest = lines.pop()!
    // Of a line that does not end, no more is kept than is shown.
    this.#rest = rest.slice(rest.lastIndexOf('\r', rest.length - 2) + 1).slice(0, LONGEST_PIECE)
    return lines.map(line => this.#shown(line))
  }

  #shown(line: string): string {
    const last = line.replace(/\r+$/, '').split('\r').at(-1)!
    if (last.length <= LONGEST_LINE) return this.#mask(last)
    const piece = last.slice(0, LONGEST_PIECE)
    const masked = this.#mask(piece)
    return `${masked.slice(0, Math.min(LONGEST_LINE, masked.length - (piece.length < last.length ? UNCERTAIN : 0)))}…`
  }
}
