/** Maximum length of a kept line, in characters; a longer line is truncated. */
const LONGEST_LINE = 1 << 14
/** Maximum length of the part of a line that is searched for secrets, in characters. */
const LONGEST_PIECE = 1 << 16
/** Number of characters that are dropped at the end of a truncated line, because they may contain part of a secret. */
const UNCERTAIN = 1 << 12

/**
 * Splits the output of a step into lines and masks secrets in them. A chunk of output may end in the middle of a line
 * or of a UTF-8 character. A line is returned only when it is complete, because a secret is found only in a full line.
 * A carriage return restarts the line, as on a terminal.
 */
export class LogLines {
  readonly #mask: (text: string) => string
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(mask: (text: string) => string) {
    this.#mask = mask
  }

  /** Returns the lines that end in a chunk, masked. */
  push(bytes: Uint8Array): readonly string[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }))
  }

  /** Returns the rest of the step's output, masked: the last line, which has no line end. */
  end(): readonly string[] {
    const lines = this.#take(this.#decoder.decode())
    const rest = this.#rest
    this.#rest = ''
    return rest === '' ? lines : [...lines, this.#shown(rest)]
  }

  #take(text: string): readonly string[] {
    const lines = (this.#rest + text).split('\n')
    const rest = lines.pop()!
    // Keeps no more of an unfinished line than is shown.
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
