import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { CompilerHost, FileContent } from '../../../host.ts'
import type { At } from '../../../text/source.ts'
import type { Tree } from '../../../text/tree.ts'
import type { Loaded } from '../../load/loaded.ts'
import type { FileObject, FileObjectSource } from '../../project.ts'
import { entries, flag, nonEmptyText, pairs, text } from '../tree-values.ts'
import { mayRead } from './outside-files.ts'

type Kind = 'configs' | 'secrets'

const contentDiagnostics = { configs: declare('config'), secrets: declare('secret') }

/** Declares the diagnostics for the content of configs or of secrets. Their codes and wording differ. */
function declare(what: 'config' | 'secret') {
  const fileNotFound = diagnostic({
    code: `${what}s/file-not-found`,
    severity: 'error',
    explain: `The file of a ${what} cannot be read: it does not exist, is a folder, or is not readable. Its path is relative to the folder of the Compose file.${
      what === 'secret'
        ? '\n\nThe file of a secret is often not committed. Create it before you compile, or mark the secret `external: true` and create the Kubernetes Secret by other means.'
        : ''
    }`,
    text: (p: { name: string; file: string; reason: string; hint: string }) => ({
      message: `the file \`${p.file}\` of the ${what} \`${p.name}\` ${p.reason}`,
      hint: p.hint,
    }),
  })
  const variableNotSet = diagnostic({
    code: `${what}s/variable-not-set`,
    severity: 'error',
    explain: `A ${what} takes its content from a variable, and neither the shell nor \`.env\` nor the platform sets it. Set the variable. For an empty file on purpose, write \`NAME=\` in \`.env\`.`,
    text: (p: { name: string; variable: string }) => ({
      message: `the ${what} \`${p.name}\` takes its content from \`${p.variable}\`, which is not set`,
      hint: `set \`${p.variable}\` in the shell or in .env`,
    }),
  })
  return { fileNotFound, variableNotSet }
}

/**
 * Reads the top-level configs or secrets. Reads the content only for configs or secrets in `used`, because the rest
 * does not become objects. Reports unreadable files and variables that are not set.
 */
export function readFileObjects(
  kind: Kind,
  used: ReadonlySet<string>,
  loaded: Loaded,
  host: CompilerHost,
  reporter: Reporter,
): ReadonlyMap<string, FileObject> {
  const reader = new ContentReader(kind, loaded, host, reporter)
  const objects = new Map<string, FileObject>()
  for (const [key, { key: span, value }] of entries(loaded.tree, kind)) {
    const external = flag(value, 'external')?.value ?? false
    const name = loaded.namedResources.has(`${kind}.${key}`) ? nonEmptyText(value, 'name') : undefined
    const source = external ? undefined : reader.source(key, value)
    const content = source && used.has(key) ? reader.content(key, source) : undefined
    objects.set(key, {
      key,
      ...(name && { name }),
      span,
      external,
      ...(content && { content }),
      ...(source && { source }),
      labels: pairs(value, ['labels'], ''),
    })
  }
  return objects
}

class ContentReader {
  readonly #kind: Kind
  readonly #loaded: Loaded
  readonly #host: CompilerHost
  readonly #reporter: Reporter

  constructor(kind: Kind, loaded: Loaded, host: CompilerHost, reporter: Reporter) {
    this.#kind = kind
    this.#loaded = loaded
    this.#host = host
    this.#reporter = reporter
  }

  /** Returns the source of the content, from `file`, `content` or `environment`; undefined if none of them is set. */
  source(name: string, tree: Tree): FileObjectSource | undefined {
    const path = nonEmptyText(tree, 'file')
    if (path) return { kind: 'file', path }
    const content = text(tree, 'content')
    if (content) return { kind: 'content', value: content.value }
    const variable = nonEmptyText(tree, 'environment')
    const value = this.#loaded.environmentContents.get(`${this.#kind}.${name}`)
    return variable && { kind: 'variable', name: variable, ...(value !== undefined && { value }) }
  }

  /** Reads the content. Reports unreadable files and variables that are not set, and returns undefined. */
  content(name: string, source: FileObjectSource): Uint8Array | undefined {
    switch (source.kind) {
      case 'file':
        return this.#file(name, source.path)
      case 'content':
        return new TextEncoder().encode(source.value)
      case 'variable':
        return this.#variable(name, source)
    }
  }

  #file(name: string, { value, span }: At<string>): Uint8Array | undefined {
    if (span.file.text.slice(span.start, span.end).replace(/["']/g, '') === '') {
      const hint = 'write the path of a file'
      this.#reporter.report(contentDiagnostics[this.#kind].fileNotFound, span, {
        name,
        file: '',
        reason: 'is not named',
        hint,
      })
      return undefined
    }
    if (!mayRead(this.#host, value, span, this.#reporter)) return undefined
    const found = this.#host.readFile(value)
    if (found.kind === 'file') return found.bytes
    const [reason, hint] = describeFailure(found)
    // The message shows the path as written instead of the absolute path.
    const written = span.file.text.slice(span.start, span.end).replace(/^(["'])(.*)\1$/, '$2')
    const file = written === '' || /[\r\n]/.test(written) ? value : written
    this.#reporter.report(contentDiagnostics[this.#kind].fileNotFound, span, { name, file, reason, hint })
    return undefined
  }

  #variable(object: string, { name, value }: Extract<FileObjectSource, { kind: 'variable' }>): Uint8Array | undefined {
    if (value !== undefined) return new TextEncoder().encode(value)
    this.#reporter.report(contentDiagnostics[this.#kind].variableNotSet, name.span, {
      name: object,
      variable: name.value,
    })
    return undefined
  }
}

function describeFailure(found: Exclude<FileContent, { kind: 'file' }>): readonly [reason: string, hint: string] {
  switch (found.kind) {
    case 'missing':
      return ['does not exist', 'make the file, or correct the path']
    case 'folder':
      return ['is a folder', 'name a file; for a whole folder, mount it under `volumes`']
    case 'unreadable':
      return [`cannot be read: ${found.reason}`, 'give yourself the right to read it']
  }
}
