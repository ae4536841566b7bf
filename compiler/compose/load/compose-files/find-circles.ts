import type { Span } from '../../../text/source.ts'

/** A name that refers to another, and where. */
interface Reference {
  readonly name: string
  readonly span: Span
}

/** A circle of references: its names, the first one again at the end, and what closes it. */
export interface Circle {
  readonly path: readonly string[]
  readonly span: Span
}

/**
 * Finds circles of references among names, in their order; not all, but one for each reference that
 * leads back. References to other names are ignored. Without recursion, so that a long chain is no
 * problem.
 */
export function findCircles(
  names: Iterable<string>,
  referencesOf: (name: string) => readonly Reference[],
): readonly Circle[] {
  const known = new Set(names)
  const found: Circle[] = []
  const done = new Set<string>()
  for (const start of known) {
    if (done.has(start)) continue
    const path = [{ name: start, rest: referencesOf(start).values() }]
    const open = new Set([start])
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const next = top.rest.next()
      if (next.done) {
        done.add(top.name)
        open.delete(top.name)
        path.pop()
        continue
      }
      const { name, span } = next.value
      if (open.has(name)) {
        const names = path.map(step => step.name)
        found.push({ path: [...names.slice(names.indexOf(name)), name], span })
      } else if (!done.has(name) && known.has(name)) {
        open.add(name)
        path.push({ name, rest: referencesOf(name).values() })
      }
    }
  }
  return found
}
