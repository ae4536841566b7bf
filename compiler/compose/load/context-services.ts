import type { Span } from '../../text/source.ts'
import { type Entry, get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'

/** A service whose image a build uses (`additional_contexts: {NAME: service:x}`). */
export interface UsedService {
  readonly name: string
  readonly span: Span
}

/** The services whose images the build of a service uses. */
export function usedByBuild(service: Tree | undefined): readonly UsedService[] {
  const contexts = get(service, 'build', 'additional_contexts')
  if (!isMap(contexts)) return []
  return [...contexts.entries.values()].flatMap(({ value }) => {
    const text = value.kind === 'scalar' ? scalarText(value) : ''
    return text.startsWith('service:') ? [{ name: text.slice('service:'.length), span: value.span }] : []
  })
}

/**
 * The services of `all` that builds of `services` use, directly or not, without `services`: their
 * profiles need not be active, since only their images are needed.
 */
export function findContextServices(all: MapTree, services: MapTree): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>()
  const queue = [...services.entries.values()]
  for (let next = queue.pop(); next; next = queue.pop())
    for (const { name } of usedByBuild(next.value)) {
      const used = all.entries.get(name)
      if (!used || found.has(name) || services.entries.has(name)) continue
      found.set(name, used)
      queue.push(used)
    }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}
