import type { Span } from '../../text/source.ts'
import { compareText } from '../context.ts'

/** A wait of one service for another. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly span: Span
}

/**
 * Finds cycles in a graph. Returns each cycle as its edges in order, starting at the first name in the alphabet. Does
 * not return every cycle, but enough that no cycle is left if each returned one is broken. Takes linear time in the
 * number of edges, and is not recursive, so long chains are safe.
 */
export function findCycles(edges: readonly Edge[]): readonly (readonly Edge[])[] {
  const outgoing = new Map<string, Edge[]>()
  for (const edge of [...edges].sort((a, b) => compareText(a.from, b.from) || compareText(a.to, b.to))) {
    const list = outgoing.get(edge.from)
    if (list) list.push(edge)
    else outgoing.set(edge.from, [edge])
  }
  const found: (readonly Edge[])[] = []
  const done = new Set<string>()
  for (const start of outgoing.keys()) {
    if (done.has(start)) continue
    // The path from `start` to the current node, and for each node on it the index of the next edge to follow.
    const path: Edge[] = []
    const next = [0]
    const onPath = new Map([[start, 0]])
    while (next.length > 0) {
      const at = path.at(-1)?.to ?? start
      const index = next[next.length - 1]!
      const edge = outgoing.get(at)?.[index]
      next[next.length - 1] = index + 1
      if (!edge) {
        done.add(at)
        onPath.delete(at)
        next.pop()
        path.pop()
        continue
      }
      const depth = onPath.get(edge.to)
      if (depth !== undefined) found.push(fromFirstName([...path.slice(depth), edge]))
      else if (!done.has(edge.to)) {
        path.push(edge)
        onPath.set(edge.to, path.length)
        next.push(0)
      }
    }
  }
  return found
}

function fromFirstName(cycle: readonly Edge[]): readonly Edge[] {
  let first = 0
  for (const [index, { from }] of cycle.entries()) if (compareText(from, cycle[first]!.from) < 0) first = index
  return [...cycle.slice(first), ...cycle.slice(0, first)]
}
