/** Prefix that cannot occur in a Kubernetes object, for the digits of a number that JavaScript would round. */
const MARK = '\u0000number:'
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const MARKED = /"\\u0000number:([^"]*)"/g

/**
 * Parses JSON so that `printExact` prints every number as it was written: an int64 in a custom resource can have more
 * digits than a JavaScript number, and the object must reach the server as the user's program sent it. Throws a
 * SyntaxError if the text is not JSON.
 */
export function parseExact(text: string): unknown {
  // Long bodies rarely contain such numbers, so search for one first.
  if (!/[^"\w]-?\d(?:[\d.eE+-]{15,}|\d*[.eE])/.test(text)) return JSON.parse(text)
  return JSON.parse(
    text.replaceAll(TOKENS, token =>
      token.startsWith('"') || JSON.stringify(Number(token)) === token ? token : JSON.stringify(`${MARK}${token}`),
    ),
  )
}

/** Prints a value of `parseExact` as JSON. */
export function printExact(value: unknown): string {
  return JSON.stringify(value).replaceAll(MARKED, (_, digits: string) => digits)
}
