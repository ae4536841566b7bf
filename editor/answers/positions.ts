import { pathToFileURL } from 'node:url'
import type { Location, Range } from 'vscode-languageserver-protocol'
import { TextDocument } from 'vscode-languageserver-textdocument'
import type { SourceFile, Span } from '../../compiler/text/source.ts'

const documents = new WeakMap<SourceFile, TextDocument>()

/** Returns the location of a span; undefined for standard input. */
export function toLocation(span: Span): Location | undefined {
  const { location } = span.file
  return location.startsWith('/') ? { uri: uriOf(location), range: rangeOfSpan(span) } : undefined
}

/** Returns the range of a span in the text that was compiled. */
export function rangeOfSpan({ file, start, end }: Span): Range {
  const known = documents.get(file) ?? documentOf(file.text)
  documents.set(file, known)
  return rangeOf(known, start, end)
}

/** Returns the range between two offsets of a document. */
export const rangeOf = (document: TextDocument, start: number, end: number): Range => ({
  start: document.positionAt(start),
  end: document.positionAt(end),
})

/** Returns a document with a text, which converts offsets in the text to positions. */
export const documentOf = (text: string): TextDocument => TextDocument.create('', 'yaml', 0, text)

/** Returns the URI of an absolute path. */
export const uriOf = (path: string): string => pathToFileURL(path).href
