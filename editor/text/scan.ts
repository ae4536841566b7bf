/** Returns the match of a sticky expression at an offset; null if the text does not match there. */
export function match(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at
  return expression.exec(text)
}

/** Returns the offset of the first character, at or after an offset, that is neither a space nor a tab. */
export function skip(text: string, at: number): number {
  let next = at
  while (text[next] === ' ' || text[next] === '\t') next++
  return next
}

/** Returns the offset after the quote that closes a text; undefined if the text is not closed before the limit. */
export function closingQuote(text: string, from: number, limit: number): number | undefined {
  const quote = text[from]
  for (let at = from + 1; at < limit; at++) {
    if (text[at] === '\\' && quote === '"') at++
    else if (text[at] === quote && quote === "'" && text[at + 1] === "'") at++
    else if (text[at] === quote) return at + 1
  }
  return undefined
}

/** Returns the offset of the comment in a line; undefined if it has none. */
export function commentIn(line: string): number | undefined {
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line[at]!
    if (quote !== undefined) quote = char === quote ? undefined : quote
    else if ((char === '"' || char === "'") && /[\s[{,:]|^$/.test(line[at - 1] ?? '')) quote = char
    else if (char === '#' && /\s|^$/.test(line[at - 1] ?? '')) return at
  }
  return undefined
}
