import type { Project } from '../../compose/project.ts'

/**
 * Returns a function that maps all keys of one network to one of them. Keys with the same `name` are one network in
 * Compose; the first of them that any service uses, in sorted order, stands for all. Other keys are mapped to
 * themselves.
 */
export function findSameNetworks({ services, networks }: Project): (key: string) => string {
  const used = new Set([...services.values()].flatMap(service => service.networks.map(({ name }) => name)))
  const first = new Map<string, string>()
  const nameOf = (key: string) => networks.get(key)?.name
  for (const key of [...used].sort()) {
    const name = nameOf(key)
    if (name !== undefined && !first.has(name)) first.set(name, key)
  }
  return key => first.get(nameOf(key) ?? '') ?? key
}
