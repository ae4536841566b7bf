import type { Readable, Writable } from 'node:stream'
import {
  CodeActionRequest,
  CompletionRequest,
  createProtocolConnection,
  DefinitionRequest,
  DidChangeTextDocumentNotification,
  DidChangeWatchedFilesNotification,
  DidChangeWorkspaceFoldersNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DidSaveTextDocumentNotification,
  DocumentSymbolRequest,
  ExitNotification,
  FileChangeType,
  HoverRequest,
  InitializedNotification,
  type InitializeParams,
  InitializeRequest,
  type InitializeResult,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
} from 'vscode-languageserver-protocol/node'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Workspace } from '../../project/workspace.ts'
import { completionsAt } from '../answers/completion.ts'
import { definitionAt } from '../answers/definition.ts'
import { pageOf } from '../answers/diagnostics.ts'
import { fixesIn } from '../answers/fixes.ts'
import { hoverAt } from '../answers/hover.ts'
import { uriOf } from '../answers/positions.ts'
import type { AskedDocument } from '../answers/question.ts'
import { symbolsOf } from '../answers/symbols.ts'
import { Compilations } from './compilations.ts'
import { OpenDocuments, pathOfUri } from './documents.ts'

export interface LanguageServerOptions {
  readonly input: Readable
  readonly output: Writable
  readonly workspace: Workspace
  readonly version: string
  /** Absolute path of docs/diagnostics; absent if the package has none. */
  readonly pages?: string
  /** Receives errors of devctl itself, and of the connection. */
  readonly onError: (error: unknown) => void
}

/** Pattern of the files that a project may read. The editor reports changes of these files by other programs. */
const WATCHED = '**/{*.yml,*.yaml,*.env,.env,.env.*,Dockerfile,Dockerfile.*}'

/**
 * Serves an editor by the Language Server Protocol until the editor ends the connection. Resolves with true if the
 * editor has first asked for a shutdown. Answers a request that fails with the error.
 */
export function serveEditor(options: LanguageServerOptions): Promise<boolean> {
  const { input, output, workspace, version, pages, onError } = options
  const reader = new StreamMessageReader(input)
  // The timer for the rest of a message starts again and again, and would keep the process of an editor that has died
  // in the middle of one.
  reader.partialMessageTimeout = 0
  const connection = createProtocolConnection(reader, new StreamMessageWriter(output))
  const documents = new OpenDocuments()
  let roots: readonly string[] = []
  let canRegister = false
  let isShutDown = false
  const compilations = new Compilations({
    documents,
    workspace,
    roots: () => roots,
    explained: pages === undefined ? () => undefined : pageOf(pages),
    publish: (path, list) => {
      const diagnostics = list.map(({ shown }) => shown)
      connection
        .sendNotification(PublishDiagnosticsNotification.type, {
          uri: documents.uriOf(path) ?? uriOf(path),
          diagnostics,
        })
        .catch(onError)
    },
    onError,
  })

  /**
   * Returns a request handler that answers a question about a position in an open document. The handler resolves with
   * null if there is no answer.
   */
  const atPosition =
    <Answer>(answer: (asked: AskedDocument, offset: number) => Answer | undefined) =>
    async (params: { textDocument: { uri: string }; position: { line: number; character: number } }) => {
      const open = documents.get(params.textDocument.uri)
      const asked = open && (await compilations.ask(open))
      return (asked && answer(asked, asked.document.offsetAt(params.position))) ?? null
    }

  connection.onRequest(InitializeRequest.type, (params): InitializeResult => {
    roots = rootsOf(params)
    canRegister = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration ?? false
    return { capabilities, serverInfo: { name: 'devctl', version } }
  })
  connection.onNotification(InitializedNotification.type, () => {
    if (!canRegister) return
    const watched = {
      id: 'files',
      method: DidChangeWatchedFilesNotification.method,
      registerOptions: { watchers: [{ globPattern: WATCHED }] },
    }
    connection.sendRequest(RegistrationRequest.type, { registrations: [watched] }).catch(onError)
  })
  connection.onNotification(DidOpenTextDocumentNotification.type, params => {
    documents.open(params)
    const path = pathOfUri(params.textDocument.uri)
    if (path === undefined) return
    if (kindOfPath(path) === undefined) compilations.created(path)
    else compilations.changed(path)
  })
  connection.onNotification(DidChangeTextDocumentNotification.type, params => {
    documents.change(params)
    changed(params.textDocument.uri)
  })
  connection.onNotification(DidSaveTextDocumentNotification.type, params => changed(params.textDocument.uri))
  connection.onNotification(DidCloseTextDocumentNotification.type, ({ textDocument: { uri } }) => {
    const path = documents.get(uri)?.path
    documents.close(uri)
    if (path === undefined) return
    compilations.closed(path)
    compilations.changed(path)
  })
  connection.onNotification(DidChangeWatchedFilesNotification.type, ({ changes }) => {
    for (const { uri, type } of changes) {
      const path = pathOfUri(uri)
      if (path === undefined) continue
      if (type === FileChangeType.Created) compilations.created(path)
      else compilations.changed(path)
    }
  })
  connection.onNotification(DidChangeWorkspaceFoldersNotification.type, ({ event: { added, removed } }) => {
    const gone = removed.map(({ uri }) => pathOfUri(uri))
    roots = [...roots.filter(one => !gone.includes(one)), ...added.flatMap(({ uri }) => pathOfUri(uri) ?? [])]
  })
  function changed(uri: string): void {
    const path = pathOfUri(uri)
    if (path !== undefined) compilations.changed(path)
  }

  connection.onRequest(HoverRequest.type, atPosition(hoverAt))
  connection.onRequest(
    CompletionRequest.type,
    atPosition((asked, offset) => ({ isIncomplete: false, items: [...completionsAt(asked, offset)] })),
  )
  connection.onRequest(
    DefinitionRequest.type,
    atPosition((asked, offset) => definitionAt(asked, offset, kindOfPath)),
  )
  connection.onRequest(DocumentSymbolRequest.type, async ({ textDocument }) => {
    const open = documents.get(textDocument.uri)
    const asked = open && (await compilations.ask(open))
    return asked ? [...symbolsOf(asked)] : null
  })
  connection.onRequest(CodeActionRequest.type, ({ textDocument, range }) => {
    const open = documents.get(textDocument.uri)
    return open ? [...fixesIn(open, compilations.diagnosticsOf(open.path), range)] : null
  })
  connection.onRequest(ShutdownRequest.type, () => {
    isShutDown = true
    compilations.stop()
  })

  return new Promise(resolve => {
    const end = () => {
      compilations.stop()
      connection.dispose()
      resolve(isShutDown)
    }
    connection.onNotification(ExitNotification.type, end)
    connection.onClose(end)
    connection.onError(([error]) => onError(failedConnection(error)))
    connection.listen()
  })
}

/** Returns the error for a message that does not conform to the protocol, or that cannot be sent. */
const failedConnection = (error: Error): UserError =>
  new UserError(`the connection to the editor failed: ${error.message.split(/\r?\n/)[0]}`, {
    hint: 'an editor starts `devctl lsp`, and writes messages of the Language Server Protocol to its standard input',
    cause: error,
  })

const capabilities: InitializeResult['capabilities'] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  hoverProvider: true,
  completionProvider: { triggerCharacters: ['{', '$', ' '] },
  definitionProvider: true,
  documentSymbolProvider: true,
  codeActionProvider: { codeActionKinds: ['quickfix'] },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
}

function rootsOf({ workspaceFolders, rootUri }: InitializeParams): readonly string[] {
  const uris = workspaceFolders?.map(({ uri }) => uri) ?? (rootUri ? [rootUri] : [])
  return uris.flatMap(uri => pathOfUri(uri)?.replace(/(?<=.)\/$/, '') ?? [])
}

function kindOfPath(path: string): 'file' | 'folder' | undefined {
  const found = statIfFound(path)
  return found?.isFile() ? 'file' : found?.isDirectory() ? 'folder' : undefined
}
