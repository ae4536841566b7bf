import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts'
import type { Span } from '../compiler/text/source.ts'
import { entry, get, type Tree } from '../compiler/text/tree.ts'

/**
 * Returns the errors that concern a service: errors about this service, and errors about no particular service. Errors
 * of other services do not keep it from running. `tree` contains the Compose files as loaded.
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

/**
 * Returns the diagnostics, without those that have one of the given codes and are about one of the services `names`.
 */
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

/** Returns true if a position is inside a part of the tree, which may have been merged from several files. */
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
