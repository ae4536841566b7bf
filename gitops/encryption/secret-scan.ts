import { secretDocumentsIn } from './secret-documents.ts'

/** A place with something secret. The secret itself is not part of it. */
export interface SecretFound {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  /** Description of the secret: `a private key`. */
  readonly what: string
}

/** A stretch of a text, and what it looks like. */
export interface FoundShape {
  readonly what: string
  readonly start: number
  readonly end: number
}

export interface ScanOptions {
  /** Finds the stretches of a text that have the shape of a secret. */
  readonly shapes: (text: string) => readonly FoundShape[]
  /** True if a stretch is known not to be a secret, because it was declared public. */
  readonly isPublic?: (stretch: string) => boolean
}

/** Words of base64 that are long enough to hold a key or a token; shorter ones have no shape. */
const ENCODED = /[A-Za-z0-9+/]{24,}={0,2}/g

/**
 * Looks over files before they are committed, whatever made them: for Secrets with values, and for
 * private keys and tokens anywhere, in base64 too. The last line of defence: what is known to be
 * secret has been refused long before. `files` is text by path. The result is in the order of paths
 * and lines.
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

/** Gives the line of an offset. */
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
