import { fileURLToPath } from 'node:url'
import type { DidChangeTextDocumentParams, DidOpenTextDocumentParams } from 'vscode-languageserver-protocol'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { outlineOf } from '../text/outline.ts'
import type { Outline } from '../text/outline-node.ts'

/** A document of the editor. */
export interface OpenDocument {
  /** Absolute path. */
  readonly path: string
  readonly document: TextDocument
}

/** The documents that are open in the editor, with their unsaved texts. */
export class OpenDocuments {
  readonly #byUri = new Map<string, OpenDocument>()
  readonly #outlines = new WeakMap<TextDocument, { readonly version: number; readonly outline: Outline }>()

  /** Adds a document. Ignores a document that is not a file, such as an unsaved one without a name. */
  open({ textDocument: { uri, languageId, version, text } }: DidOpenTextDocumentParams): void {
    const path = pathOfUri(uri)
    if (path !== undefined)
      this.#byUri.set(uri, { path, document: TextDocument.create(uri, languageId, version, text) })
  }

  change({ textDocument: { uri, version }, contentChanges }: DidChangeTextDocumentParams): void {
    const known = this.#byUri.get(uri)
    if (known)
      this.#byUri.set(uri, { ...known, document: TextDocument.update(known.document, contentChanges, version) })
  }

  close(uri: string): void {
    this.#byUri.delete(uri)
  }

  get(uri: string): OpenDocument | undefined {
    return this.#byUri.get(uri)
  }

  get all(): readonly OpenDocument[] {
    return [...this.#byUri.values()]
  }

  /** Returns the URI that the editor has for a path; undefined if no document with this path is open. */
  uriOf(path: string): string | undefined {
    return this.all.find(one => one.path === path)?.document.uri
  }

  /** Texts of the open documents, by absolute path. */
  get texts(): ReadonlyMap<string, string> {
    return new Map(this.all.map(({ path, document }) => [path, document.getText()]))
  }

  /** Returns the outline of a document, which is read once for each version. */
  outlineOf(document: TextDocument): Outline {
    const known = this.#outlines.get(document)
    if (known?.version === document.version) return known.outline
    const outline = outlineOf(document.getText())
    this.#outlines.set(document, { version: document.version, outline })
    return outline
  }
}

/** Returns the absolute path of a file URI; undefined for other URIs. */
export function pathOfUri(uri: string): string | undefined {
  try {
    return fileURLToPath(uri)
  } catch {
    return undefined
  }
}
