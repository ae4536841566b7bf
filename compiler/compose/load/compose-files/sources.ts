import { isAbsolute, relative } from 'node:path/posix'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { CompilerHost, FileContent } from '../../../host.ts'
import { SourceFile, type Span } from '../../../text/source.ts'
import { mayRead } from '../../read/storage/outside-files.ts'

const NAMED_BY_USER = 'check the path; it is relative to the current folder'

const notFound = diagnostic({
  code: 'files/not-found',
  severity: 'error',
  explain:
    'A file that the command line or a Compose file names does not exist. Paths in a Compose file are relative to the project folder (the folder of the first file); in an included or extended file they are relative to that file.',
  text: (p: {
    path: string
    what: string
    others?: number
    example?: string | undefined
    hint?: string | undefined
  }) => ({
    message: p.path === '' ? `the path of ${p.what} is empty` : `${p.what} \`${p.path}\` does not exist`,
    hint: p.example === undefined ? p.hint : `copy \`${p.example}\` to this path and fill it in`,
    notes: p.others ? [`${p.others} more ${p.others === 1 ? 'reference' : 'references'} to it`] : undefined,
  }),
})
const isFolder = diagnostic({
  code: 'files/is-a-folder',
  severity: 'error',
  explain:
    'The path names a folder where a file is expected. Name a file in it: `-f FOLDER/compose.yaml`, `env_file: FOLDER/web.env`.',
  text: (p: { path: string; what: string }) => ({ message: `${p.what} \`${p.path}\` is a folder` }),
})
const unreadable = diagnostic({
  code: 'files/unreadable',
  severity: 'error',
  explain:
    'The file exists but could not be read. The message has the error of the operating system, most often a missing permission.',
  text: (p: { path: string; what: string; reason: string }) => ({
    message: `${p.what} \`${p.path}\` cannot be read: ${p.reason}`,
  }),
})
const notUtf8 = diagnostic({
  code: 'files/not-utf8',
  severity: 'error',
  explain:
    'Compose files and env files are UTF-8 text (UTF-16 with a byte order mark is accepted too). Save the file as UTF-8.',
  text: (p: { path: string; what: string; offset: number }) => ({
    message: `${p.what} \`${p.path}\` is not valid UTF-8: invalid byte at position ${p.offset + 1}`,
    hint: 'save the file as UTF-8',
  }),
})

/** Reads text files through the host, each file once. */
export class Sources {
  readonly #host: CompilerHost
  readonly #workingDirectory: string
  readonly #stdin: Uint8Array | undefined
  readonly #read = new Map<string, SourceFile>()
  readonly #variableFiles = new Set<string>()

  constructor(host: CompilerHost, workingDirectory: string, stdin?: Uint8Array) {
    this.#host = host
    this.#workingDirectory = workingDirectory
    this.#stdin = stdin
  }

  /** Returns the path for messages: relative to the working directory if that is shorter. */
  readonly display = (path: string): string => {
    if (!isAbsolute(path)) return path
    const short = relative(this.#workingDirectory, path)
    return short === '' ? '.' : short.length < path.length ? short : path
  }

  /** Returns the absolute paths of the files that were read. */
  paths(): readonly string[] {
    return [...this.#read.keys()].filter(isAbsolute)
  }

  /** Marks an env file whose variables are used for `${NAME}` in the Compose files. */
  addVariableFile(path: string): void {
    this.#variableFiles.add(path)
  }

  /** Returns the absolute paths of the env files whose variables are used for `${NAME}` in the Compose files. */
  variableFiles(): readonly string[] {
    return [...this.#variableFiles].filter(isAbsolute)
  }

  /**
   * Reports a missing file at its first reference, with the number of other references, some of which are shown.
   * Suggests an example file beside it, such as `.env.example`.
   */
  reportMissing(
    path: string,
    what: string,
    { first, shown, others }: { readonly first: Span; readonly shown: readonly Span[]; readonly others: number },
    reporter: Reporter,
  ): void {
    const example = ['.example', '.sample', '.template', '.dist']
      .map(end => `${path}${end}`)
      .find(one => this.#isFile(one))
    reporter.report(
      notFound,
      first,
      { path: this.display(path), what, others, example: example && this.display(example) },
      shown.map(span => ({ span, message: 'also named here' })),
    )
  }

  #isFile(path: string): boolean {
    return this.#host.stat(path)?.kind === 'file'
  }

  /**
   * Reads a file (`-` is standard input) without its byte order mark. If the file cannot be read, reports `files/*` at
   * `span` and returns undefined. `what` is the kind of file for messages, such as `the included file`.
   */
  open(path: string, what: string, reporter: Reporter, span?: Span): SourceFile | undefined {
    const known = this.#read.get(path)
    if (known) return known
    if (path !== '-' && !mayRead(this.#host, path, span, reporter)) return undefined
    const isOutside = path !== '-' && (this.#host.outside?.(path)?.is ?? 'allowed') !== 'allowed'
    const content: FileContent =
      path === '-' ? { kind: 'file', bytes: this.#stdin ?? new Uint8Array() } : this.#host.readFile(path)
    const display = path === '-' ? 'standard input' : this.display(path)
    switch (content.kind) {
      case 'missing':
        reporter.report(notFound, span, { path: display, what, ...(!span && { hint: NAMED_BY_USER }) })
        return undefined
      case 'folder':
        reporter.report(isFolder, span, { path: display, what })
        return undefined
      case 'unreadable':
        reporter.report(unreadable, span, { path: display, what, reason: content.reason })
        return undefined
      case 'file': {
        const text = decodeText(content.bytes)
        if (typeof text !== 'string') {
          const shown = new SourceFile(display, text.readable, path === '-' ? display : path, isOutside)
          reporter.report(
            notUtf8,
            { file: shown, start: text.at, end: text.at + 1 },
            { path: display, what, offset: text.offset },
            span && [{ span, message: 'named here' }],
          )
          return undefined
        }
        const file = new SourceFile(display, text, path === '-' ? display : path, isOutside)
        this.#read.set(path, file)
        return file
      }
    }
  }
}

/**
 * Readable version of bytes that are not UTF-8, with invalid characters replaced. `at` is the offset of the first
 * invalid character in the text, `offset` its offset in the bytes.
 */
interface NotUtf8 {
  readonly readable: string
  readonly at: number
  readonly offset: number
}

/** Decodes UTF-8, or UTF-16 with a byte order mark. For all other bytes, returns their readable version. */
function decodeText(bytes: Uint8Array): string | NotUtf8 {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const offset = firstBadByte(bytes)
    const before = new TextDecoder().decode(bytes.subarray(0, offset), { stream: true })
    return { readable: new TextDecoder().decode(bytes), at: before.length, offset }
  }
}

function firstBadByte(bytes: Uint8Array): number {
  // A binary search for the longest prefix that decodes. With `stream`, the last character of the prefix may be
  // incomplete.
  let good = 0
  let bad = bytes.length
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, middle), { stream: true })
      good = middle
    } catch {
      bad = middle
    }
  }
  return good
}
