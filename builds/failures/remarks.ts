import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Span } from '../../compiler/text/source.ts'
import type { Tree } from '../../compiler/text/tree.ts'

/** Matches the codes of diagnostics about the content of an image and about how it is built. */
const ABOUT_IMAGES = /^(?:build|image)\/|^(?:volumes\/of-image|security\/image-user|files\/outside-read)$/

/**
 * Returns the diagnostics without the warnings and remarks about images of services that are not in `chosen`, the
 * services of the command. Keeps all errors, because nothing can be built while there are errors. `services` is the
 * `services` section of the model.
 */
export function withoutOthers(
  diagnostics: readonly Diagnostic[],
  services: Tree | undefined,
  chosen: ReadonlySet<string>,
): readonly Diagnostic[] {
  const isRemark = ({ code, severity, span }: Diagnostic) =>
    severity !== 'error' && span !== undefined && ABOUT_IMAGES.test(code)
  if (services?.kind !== 'map' || !diagnostics.some(isRemark)) return diagnostics
  const [own, others] = [new Places(), new Places()]
  for (const [name, { key, value }] of services.entries) {
    const places = chosen.has(name) ? own : others
    places.add(key)
    places.addAll(value)
  }
  return diagnostics.filter(one => !isRemark(one) || own.has(one.span!) || !others.has(one.span!))
}

/**
 * Returns a function that finds the service with a YAML node at a given position in a file. The function returns
 * undefined if no service has a node there.
 */
export function serviceFinder(services: Tree | undefined): (span: Span) => string | undefined {
  if (services?.kind !== 'map') return () => undefined
  const all = [...services.entries].map(([name, { key, value }]) => {
    const places = new Places()
    places.add(key)
    places.addAll(value)
    return { name, places }
  })
  return span => all.find(({ places }) => places.has(span))?.name
}

/**
 * Start positions of YAML nodes in files. If services share a node through an anchor or `extends`, the positions of
 * each service include it.
 */
class Places {
  readonly #starts = new Map<Span['file'], Set<number>>()

  add({ file, start }: Span): void {
    const starts = this.#starts.get(file)
    if (starts) starts.add(start)
    else this.#starts.set(file, new Set([start]))
  }

  addAll(tree: Tree): void {
    this.add(tree.span)
    if (tree.kind === 'seq') for (const item of tree.items) this.addAll(item)
    if (tree.kind !== 'map') return
    for (const { key, value } of tree.entries.values()) {
      this.add(key)
      this.addAll(value)
    }
  }

  has({ file, start }: Span): boolean {
    return this.#starts.get(file)?.has(start) === true
  }
}
