/** Characters after which a line is handed on in pieces, so that memory has a bound. */
const LONGEST = 32_768

/** Takes what a program prints, as it comes. */
export interface LineReader {
  take(part: Buffer): void
  /** Hands on a last line without an end. */
  end(): void
}

/** Hands on line by line, without their ends, what comes in parts that may end within a line or a character. */
export function lineReader(line: (text: string) => void): LineReader {
  const decoder = new TextDecoder()
  let begun = ''
  const end = () => {
    if (begun !== '') line(begun)
    begun = ''
  }
  return {
    take(part) {
      const lines = (begun + decoder.decode(part, { stream: true })).split('\n')
      begun = lines.pop() ?? ''
      for (const one of lines) line(one.replace(/\r$/, ''))
      if (begun.length > LONGEST) end()
    },
    end,
  }
}
