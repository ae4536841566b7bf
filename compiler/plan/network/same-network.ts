import type { Project } from '../../compose/project.ts'

/**
 * Returns a function that maps the key of a network to the key that represents the network: the first key that a
 * service uses, in sorted order. Keys with the same `name` are one network in Compose.
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
