/**
 * A string that cannot be in a Kubernetes object, before the digits of a number that JavaScript
 * would round.
 */
const MARK = '\u0000number:'
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const MARKED = /"\\u0000number:([^"]*)"/g

/**
 * Parses JSON so that `printExact` gives every number back as it was written: an int64 of a custom
 * resource has more digits than a number of JavaScript, and the object must reach the server as the
 * user's program sent it. Throws a SyntaxError.
 */
export function parseExact(text: string): unknown {
  // Numbers are rare in what is long: look first.
  if (!/[^"\w]-?\d(?:[\d.eE+-]{15,}|\d*[.eE])/.test(text)) return JSON.parse(text)
  return JSON.parse(
    text.replaceAll(TOKENS, token =>
      token.startsWith('"') || JSON.stringify(Number(token)) === token ? token : JSON.stringify(`${MARK}${token}`),
    ),
  )
}

/** The text of what `parseExact` gave. */
export function printExact(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, (_, digits: string) => digits)
}
