import type { Workspace } from '../../project/workspace.ts'
import { diagnosticsOf, type ShownDiagnostic } from '../answers/diagnostics.ts'
import type { AskedDocument } from '../answers/question.ts'
import { type FileInProject, projectOf } from '../session/find-project.ts'
import type { OpenDocument, OpenDocuments } from './documents.ts'

/** Idle time after a change before the project is compiled, in milliseconds. */
const DEBOUNCE = 200

/** Results of the compilations of a document. */
interface Known {
  readonly latest: FileInProject
  /**
   * Last compilation that could read the Compose files, which supplies names and values while a file is broken; absent
   * if there was none.
   */
  readonly sound?: FileInProject
  readonly diagnostics: ReadonlyMap<string, readonly ShownDiagnostic[]>
}

export interface CompilationsOptions {
  readonly documents: OpenDocuments
  readonly workspace: Workspace
  /** Returns the folders that are open in the editor. */
  readonly roots: () => readonly string[]
  /** Returns the address of the documentation of a diagnostic code; undefined if there is none. */
  readonly explained: (code: string) => string | undefined
  /** Receives the diagnostics of a file, by its absolute path, whenever they change. */
  readonly publish: (path: string, diagnostics: readonly ShownDiagnostic[]) => void
  /** Receives errors of devctl itself. */
  readonly onError: (error: unknown) => void
}

/** Compiles the projects of the open documents after changes, and publishes their diagnostics. */
export class Compilations {
  readonly #options: CompilationsOptions
  /** Results by the absolute path of the document; undefined for a document that belongs to no project. */
  readonly #known = new Map<string, Known | undefined>()
  /** Diagnostics that were published last for each file, as text, by the path of the file. */
  readonly #published = new Map<string, string>()
  readonly #due = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #isRunning = false

  constructor(options: CompilationsOptions) {
    this.#options = options
  }

  /**
   * Compiles the projects that read a file, and the file's own project if the file is open, after a pause without
   * changes.
   */
  changed(path: string): void {
    this.#due.add(path)
    for (const [own, known] of this.#known) if (known?.latest.project.files.has(path)) this.#due.add(own)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#run().catch(this.#options.onError), DEBOUNCE)
  }

  /**
   * Compiles the projects of all open documents after a pause without changes, because each of them may have looked for
   * the new file.
   */
  created(path: string): void {
    for (const one of this.#options.documents.all) this.#due.add(one.path)
    this.changed(path)
  }

  /** Forgets a closed document, and removes the diagnostics that only the compilation of this document has found. */
  closed(path: string): void {
    this.#known.delete(path)
    this.#due.delete(path)
    this.#publishAll()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /**
   * Returns the diagnostics that the last compilation of a document has found in this document; empty if there was no
   * compilation.
   */
  diagnosticsOf(path: string): readonly ShownDiagnostic[] {
    return this.#known.get(path)?.diagnostics.get(path) ?? []
  }

  /**
   * Returns a document with the information about its project; undefined for a file that is neither a manifest nor a
   * Compose file.
   */
  async ask({ path, document }: OpenDocument): Promise<AskedDocument | undefined> {
    // The first question may arrive before the first compilation.
    if (!this.#known.has(path)) await this.#compile({ path, document })
    const known = this.#known.get(path)
    if (!known) return undefined
    const outline = this.#options.documents.outlineOf(document)
    return { path, document, outline, kind: known.latest.kind, project: (known.sound ?? known.latest).project }
  }

  async #run(): Promise<void> {
    // Changes during a compilation are compiled after it.
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      while (this.#due.size > 0) {
        const due = this.#options.documents.all.filter(({ path }) => this.#due.has(path))
        this.#due.clear()
        for (const one of due) await this.#compile(one)
        this.#publishAll()
      }
    } finally {
      this.#isRunning = false
    }
  }

  async #compile({ path, document }: OpenDocument): Promise<void> {
    const { documents, workspace, roots, onError } = this.#options
    try {
      const unsaved = documents.texts
      const found = await projectOf({ path, text: document.getText() }, roots(), { ...workspace, unsaved })
      if (!documents.all.some(one => one.path === path)) return
      this.#known.set(path, found && this.#toKnown(found, path))
    } catch (error) {
      onError(error)
    }
  }

  #toKnown(found: FileInProject, path: string): Known {
    const sound = found.project.compiled.loaded ? found : this.#known.get(path)?.sound
    const diagnostics = diagnosticsOf(found.project, path, this.#options.explained)
    return { latest: found, ...(sound && { sound }), diagnostics }
  }

  #publishAll(): void {
    const all = new Map<string, ShownDiagnostic[]>([...this.#published.keys()].map(path => [path, []]))
    for (const known of this.#known.values())
      for (const [path, found] of known?.diagnostics ?? []) {
        const listed = all.get(path) ?? []
        all.set(path, listed)
        const isListed = (one: ShownDiagnostic) => listed.some(other => sameDiagnostic(one, other))
        listed.push(...found.filter(one => !isListed(one)))
      }
    for (const [path, list] of all) {
      const text = JSON.stringify(list.map(({ shown }) => shown))
      if (text === (this.#published.get(path) ?? '[]')) continue
      if (list.length > 0) this.#published.set(path, text)
      else this.#published.delete(path)
      this.#options.publish(path, list)
    }
  }
}

const sameDiagnostic = (one: ShownDiagnostic, other: ShownDiagnostic): boolean =>
  one.of.code === other.of.code && one.of.message === other.of.message && one.of.span?.start === other.of.span?.start
