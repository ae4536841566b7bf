/** Length in characters from which a line is passed on in pieces, so that memory stays bounded. */
const LONGEST = 32_768

/** Receives the output of a program as it arrives. */
export interface LineReader {
  take(part: Buffer): void
  /** Passes on a last line that has no newline. */
  end(): void
}

/**
 * Splits output into lines and passes them on without their newlines. The output arrives in parts that may end within a
 * line or a character.
 */
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
