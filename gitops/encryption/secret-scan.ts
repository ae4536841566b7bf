import { secretDocumentsIn } from './secret-documents.ts'

/** Position of a secret in a file. Does not contain the secret itself. */
export interface SecretFound {
  readonly path: string
  /** Line number, from 1. */
  readonly line: number
  /** Description of the secret: `a private key`. */
  readonly what: string
}

/** A part of a text, and the kind of secret that it looks like. */
export interface FoundShape {
  readonly what: string
  readonly start: number
  readonly end: number
}

export interface ScanOptions {
  /** Finds the parts of a text that have the form of a secret. */
  readonly shapes: (text: string) => readonly FoundShape[]
  /** Returns true if a part is known not to be a secret, because it was declared public. */
  readonly isPublic?: (stretch: string) => boolean
}

/** Base64 strings that are long enough to hold a key or a token; shorter strings cannot be recognized. */
const ENCODED = /[A-Za-z0-9+/]{24,}={0,2}/g

/**
 * Scans files before they are committed, whatever produced them, for Secrets with values, and for private keys and
 * tokens anywhere, including in base64. This is the last line of defense: known secrets have been rejected long before.
 * `files` contains the texts by path. The result is ordered by path and line.
 */
export function scanForSecrets(files: ReadonlyMap<string, string>, options: ScanOptions): readonly SecretFound[] {
  return [...files]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, text]) => {
      const documents = secretDocumentsIn(text).map(line => ({ line, what: 'a Secret with values' }))
      const shapes = [...shapesIn(text, options), ...encodedIn(text, options)]
      const lines = lineCounter(text)
      const found = [...documents, ...shapes.map(({ what, start }) => ({ line: lines(start), what }))]
      const unique = new Map(found.map(({ line, what }) => [`${line} ${what}`, { path, line, what }]))
      return [...unique.values()].sort((a, b) => a.line - b.line || (a.what < b.what ? -1 : 1))
    })
}

function shapesIn(text: string, { shapes, isPublic }: ScanOptions): readonly FoundShape[] {
  return shapes(text).filter(({ start, end }) => !isPublic?.(text.slice(start, end)))
}

function encodedIn(text: string, options: ScanOptions): readonly FoundShape[] {
  return [...text.matchAll(ENCODED)].flatMap(({ 0: word, index }) =>
    options.isPublic?.(word)
      ? []
      : shapesIn(Buffer.from(word, 'base64').toString('latin1'), options).map(({ what }) => ({
          what: `${what}, in base64`,
          start: index,
          end: index + word.length,
        })),
  )
}

/** Returns a function that converts an offset to a line number. */
function lineCounter(text: string): (offset: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
  return offset => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
