import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { Span } from '../compiler/text/source.ts'
import { entry, get, type Tree } from '../compiler/text/tree.ts'

/**
 * The errors that concern a service: those about it, and those about no service. What is wrong with
 * others does not keep it from running. `tree`: the Compose files as loaded.
 */
export function errorsOf(service: string, tree: Tree, diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const services = get(tree, 'services')
  if (errors.length === 0 || services?.kind !== 'map') return errors
  const others = [...services.entries.keys()].filter(name => name !== service)
  return errors.filter(
    ({ span }) =>
      span === undefined || isIn(services, service, span) || !others.some(name => isIn(services, name, span)),
  )
}

/** Returns the diagnostics without those of the given codes about one of these services. */
export function withoutRemarks(
  diagnostics: readonly Diagnostic[],
  codes: ReadonlySet<string>,
  names: readonly string[],
  tree: Tree | undefined,
): readonly Diagnostic[] {
  const services = get(tree, 'services')
  return diagnostics.filter(
    ({ code, span }) => !codes.has(code) || !span || !services || !names.some(name => isIn(services, name, span)),
  )
}

function isIn(services: Tree, name: string, span: Span): boolean {
  const own = entry(services, name)
  return own !== undefined && (within(span, own.key) || contains(own.value, span))
}

/** True if a place is written in a part of a file, which merging may have put together from several. */
function contains(tree: Tree, span: Span): boolean {
  if (within(span, tree.span)) return true
  switch (tree.kind) {
    case 'map':
      return [...tree.entries.values()].some(({ key, value }) => within(span, key) || contains(value, span))
    case 'seq':
      return tree.items.some(item => contains(item, span))
    case 'scalar':
      return false
  }
}

const within = (inner: Span, outer: Span): boolean =>
  inner.file.location === outer.file.location && inner.start >= outer.start && inner.end <= outer.end
