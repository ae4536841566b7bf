/**
 * Offsets of the closing braces of a text. Lines are independent, because an expression never extends past the end of
 * its line.
 */
export interface Braces {
  /** Returns the offset of the `}` that balances the `{` at an offset, or -1 if its line has none. */
  readonly closing: (open: number) => number
  /** Returns the offset of the last `}` before an offset in the same line, or -1. */
  readonly lastBefore: (end: number) => number
}

/**
 * Finds the braces of a text in one pass, so that each lookup takes constant time, however deep the braces are nested.
 */
export function matchBraces(text: string): Braces {
  const closing = new Int32Array(text.length).fill(-1)
  const last = new Int32Array(text.length + 1).fill(-1)
  let open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    last[at + 1] = char === '}' ? at : char === '\n' ? -1 : last[at]!
    if (char === '{') open.push(at)
    else if (char === '}' && open.length > 0) closing[open.pop()!] = at
    else if (char === '\n') open = []
  }
  return { closing: open => closing[open]!, lastBefore: end => last[end]! }
}
