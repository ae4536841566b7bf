/**
 * Hosts are `<endpoint>-<namespace>.<domain>`, which can be read in two ways: `web-shop-dev` is `web`
 * of `shop-dev`, or `web-shop` of `dev`. It belongs to the longest namespace that it ends with.
 */
export function ownerOfHost(host: string, domain: string, namespaces: Iterable<string>): string | undefined {
  const suffix = `.${domain}`
  if (!host.endsWith(suffix)) return undefined
  const label = host.slice(0, -suffix.length)
  let owner: string | undefined
  for (const name of namespaces) if (isIn(label, name) && name.length > (owner?.length ?? 0)) owner = name
  return owner
}

/** The namespaces whose hosts one could take for those of a shorter one, in alphabetical order. */
export const longerNames = (name: string, all: Iterable<string>): readonly string[] =>
  [...all].filter(other => other.endsWith(`-${name}`)).sort()

/** The namespaces for which a new one is a longer name: their hosts have to be looked at before it is made. */
export const shorterNames = (name: string, all: Iterable<string>): readonly string[] =>
  [...all].filter(other => name.endsWith(`-${other}`)).sort()

const isIn = (label: string, namespace: string): boolean => label === namespace || label.endsWith(`-${namespace}`)
