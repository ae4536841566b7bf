import { readFile } from '../../adapters/files/read-file.ts'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import { type Boundary, outsideOf } from '../../project/boundary.ts'

/**
 * Limits of one completion, because the user waits for the answer: bytes per file, bytes of all files, number of files,
 * and milliseconds.
 */
const MOST_OF_FILE = 1 << 20
const MOST = 2 << 20
const MOST_FILES = 50
const TIME = 500

/** Files of a project, read within limits for number, size and time. A file that exceeds a limit counts as missing. */
export class BoundedFiles {
  #bytes = MOST
  #files = MOST_FILES
  readonly #end = performance.now() + TIME
  readonly #texts = new Map<string, string | undefined>()

  /** Returns the text of a file within a boundary; undefined if it cannot be read. */
  textOf(path: string, boundary: Boundary): string | undefined {
    const outside = outsideOf(path, boundary)
    if (outside && outside.is !== 'allowed') return undefined
    if (!this.#texts.has(path)) this.#texts.set(path, this.#read(path))
    return this.#texts.get(path)
  }

  /** Returns the YAML documents of a file within a boundary. */
  treesOf(path: string, boundary: Boundary): readonly Tree[] {
    const text = this.textOf(path, boundary)
    if (text === undefined || performance.now() > this.#end) return []
    const documents = parseYaml(new SourceFile(path, text), new Reporter())
    return documents?.flatMap(({ tree }) => tree ?? []) ?? []
  }

  #read(path: string): string | undefined {
    const found = statIfFound(path)
    // Reading a pipe would take its content from the command.
    if (!found?.isFile() || found.size > Math.min(MOST_OF_FILE, this.#bytes) || this.#files === 0) return undefined
    this.#bytes -= found.size
    this.#files--
    const content = readFile(path)
    return content.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
  }
}
