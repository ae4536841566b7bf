import type { KubeObject } from '../cluster/cluster.ts'

/** One value of an object that differs: `spec.template.spec.containers[web].image`. */
export interface Difference {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** What the server keeps about an object, and nobody asks for. */
const KEPT_BY_SERVER = ['managedFields', 'resourceVersion', 'uid', 'generation', 'creationTimestamp', 'selfLink']

/** What differs between an object as it is and as a dry run says that it would be. Status and the server's own metadata are not compared. */
export function differencesOf(live: KubeObject, next: KubeObject): readonly Difference[] {
  const found: Difference[] = []
  compare(withoutServerFields(live), withoutServerFields(next), '', found)
  return found
}

function withoutServerFields({ status: _, metadata, ...rest }: KubeObject): unknown {
  const kept = Object.entries(metadata).filter(([key]) => !KEPT_BY_SERVER.includes(key))
  return { ...rest, metadata: Object.fromEntries(kept) }
}

function compare(before: unknown, after: unknown, path: string, found: Difference[]): void {
  if (Object.is(before, after)) return
  if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(before, after, path, found)
    return
  }
  if (isMap(before) && isMap(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(before[key], after[key], path === '' ? key : `${path}.${key}`, found)
    return
  }
  found.push({ path, before, after })
}

/** Items that have names are compared by name: one more at the front does not make all others differ. */
function compareLists(before: readonly unknown[], after: readonly unknown[], path: string, found: Difference[]): void {
  const left = byName(before)
  const right = byName(after)
  if (left && right) {
    for (const name of new Set([...left.keys(), ...right.keys()]))
      compare(left.get(name), right.get(name), `${path}[${name}]`, found)
    return
  }
  for (let index = 0; index < Math.max(before.length, after.length); index++)
    compare(before[index], after[index], `${path}[${index}]`, found)
}

function byName(items: readonly unknown[]): ReadonlyMap<string, unknown> | undefined {
  const named = new Map<string, unknown>()
  for (const item of items) {
    const name = isMap(item) ? item['name'] : undefined
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, item)
  }
  return named
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
