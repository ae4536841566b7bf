import type { Span } from '../../../text/source.ts'

/** A reference to another name, with its position. */
interface Reference {
  readonly name: string
  readonly span: Span
}

/**
 * A cycle of references: its names, with the first name repeated at the end, and the position of the reference that
 * closes the cycle.
 */
export interface Circle {
  readonly path: readonly string[]
  readonly span: Span
}

/**
 * Finds cycles of references among names, in the order of the names. Returns one cycle for each reference that closes a
 * cycle; there may be further cycles. Ignores references to unknown names. Uses no recursion, so long chains do not
 * overflow the stack.
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
