import type { Readable, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import {
  createProtocolConnection,
  type Diagnostic,
  type InitializeResult,
  type Position,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver-protocol/node'
import { withCursor } from './cursor.ts'

/** Time in which the server must answer, in milliseconds. */
const DEADLINE = 20_000

/** A thin client of the language server. */
export class EditorClient {
  readonly connection
  readonly #diagnostics = new Map<string, readonly Diagnostic[]>()
  readonly #waiting = new Set<() => void>()
  #version = 1

  constructor(input: Readable, output: Writable) {
    this.connection = createProtocolConnection(new StreamMessageReader(input), new StreamMessageWriter(output))
    this.connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
      this.#diagnostics.set(uri, diagnostics)
      for (const check of this.#waiting) check()
    })
    this.connection.listen()
  }

  async start(...folders: readonly string[]): Promise<InitializeResult> {
    const workspaceFolders = folders.map(path => ({ uri: uriOf(path), name: path }))
    const result = await this.request('initialize', {
      processId: null,
      capabilities: {},
      rootUri: null,
      workspaceFolders,
    })
    await this.connection.sendNotification('initialized', {})
    return result as InitializeResult
  }

  /** Sends a request; rejects if there is no answer in time. */
  async request(method: string, params: unknown): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), DEADLINE)
    })
    return Promise.race([this.connection.sendRequest(method, params), late]).finally(() => clearTimeout(timer))
  }

  open(path: string, text: string): Promise<void> {
    const textDocument = { uri: uriOf(path), languageId: 'yaml', version: this.#version, text }
    return this.connection.sendNotification('textDocument/didOpen', { textDocument })
  }

  change(path: string, ...contentChanges: readonly object[]): Promise<void> {
    const textDocument = { uri: uriOf(path), version: ++this.#version }
    return this.connection.sendNotification('textDocument/didChange', { textDocument, contentChanges })
  }

  close(path: string): Promise<void> {
    return this.connection.sendNotification('textDocument/didClose', { textDocument: { uri: uriOf(path) } })
  }

  /** Asks about the cursor in a text, which the document has. */
  at(method: string, path: string, marked: string): Promise<unknown> {
    const { text, offset } = withCursor(marked)
    return this.request(`textDocument/${method}`, {
      textDocument: { uri: uriOf(path) },
      position: positionAt(text, offset),
    })
  }

  /** Resolves with the codes of the diagnostics of a file, once they are the expected ones. */
  async codes(path: string, expected: readonly string[]): Promise<readonly Diagnostic[]> {
    const found = () => this.#diagnostics.get(uriOf(path)) ?? []
    const isExpected = () => JSON.stringify(found().map(({ code }) => code)) === JSON.stringify(expected)
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#waiting.delete(check)
        clearTimeout(timer)
        settle()
      }
      const check = () => isExpected() && end(resolve)
      const timer = setTimeout(
        () => end(() => reject(new Error(`diagnostics of ${path}: ${JSON.stringify(found())}`))),
        DEADLINE,
      )
      this.#waiting.add(check)
      check()
    })
    return found()
  }

  async end(): Promise<void> {
    await this.request('shutdown', undefined)
    await this.connection.sendNotification('exit')
  }
}

export const uriOf = (path: string): string => pathToFileURL(path).href

/** Returns a position of the protocol for an offset. */
export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n')
  return { line: lines.length - 1, character: lines.at(-1)!.length }
}
