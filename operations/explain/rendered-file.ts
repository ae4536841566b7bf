import { readFile } from '../../adapters/files/read-file.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { parseYaml } from '../../compiler/text/parse.ts'
import { SourceFile } from '../../compiler/text/source.ts'
import { get, type Tree } from '../../compiler/text/tree.ts'
import { nodesBelow } from '../../explain/model-node.ts'
import type { FieldStep } from '../../explain/target.ts'

/** Object of a rendered file, and the path in that object of the value at the given line. */
export interface RenderedField {
  readonly objectKind: string
  readonly name: string
  readonly path: readonly FieldStep[]
}

/**
 * Returns the object and the value at a line of a rendered file; undefined if the file contains no Kubernetes objects.
 * Throws a UserError if the file cannot be read, or if the line is outside of its objects.
 */
export function fieldAt(path: string, shown: string, line: number): RenderedField | undefined {
  const content = readFile(path)
  if (content.kind === 'missing') throw new UserError(`\`${shown}\` does not exist`)
  if (content.kind !== 'file') throw new UserError(`\`${shown}\` cannot be read`)
  const file = new SourceFile(shown, new TextDecoder().decode(content.bytes))
  const documents = (parseYaml(file, new Reporter()) ?? []).flatMap(({ tree }) =>
    tree && textOf(tree, 'kind') !== undefined && textOf(tree, 'apiVersion') !== undefined ? [tree] : [],
  )
  if (documents.length === 0) return undefined
  const lineOf = (offset: number) => file.position(offset).line
  const document = documents.findLast(({ span }) => lineOf(span.start) <= line)
  const name = document && get(document, 'metadata', 'name')
  const last = document && lineOf(Math.max(document.span.start, document.span.end - 1))
  if (!document || name?.kind !== 'scalar' || line > last!)
    throw new UserError(`line ${line} of \`${shown}\` is outside of its objects`)
  const nodes = [...nodesBelow({ path: [], tree: document })].filter(
    ({ key, tree }) =>
      lineOf((key ?? tree.span).start) <= line && line <= lineOf(Math.max(tree.span.start, tree.span.end - 1)),
  )
  // The innermost node that begins on the line, else the innermost around it.
  const begun = nodes.filter(({ key, tree }) => lineOf((key ?? tree.span).start) === line)
  const node = begun[0] ?? nodes.at(-1)!
  return { objectKind: textOf(document, 'kind')!, name: String(name.value), path: node.path }
}

function textOf(tree: Tree, key: string): string | undefined {
  const value = get(tree, key)
  return value?.kind === 'scalar' ? String(value.value) : undefined
}
