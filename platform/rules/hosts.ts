/**
 * Returns the namespace that a host belongs to; undefined if there is none. Hosts are
 * `<endpoint>-<namespace>.<domain>`, which is ambiguous: `web-shop-dev` is `web` of `shop-dev`, or `web-shop` of `dev`.
 * The longest matching namespace wins.
 */
export function ownerOfHost(host: string, domain: string, namespaces: Iterable<string>): string | undefined {
  const suffix = `.${domain}`
  if (!host.endsWith(suffix)) return undefined
  const label = host.slice(0, -suffix.length)
  let owner: string | undefined
  for (const name of namespaces) if (isIn(label, name) && name.length > (owner?.length ?? 0)) owner = name
  return owner
}

/**
 * Returns the namespaces with longer names whose hosts could be confused with the hosts of the namespace `name`, in
 * alphabetical order.
 */
export const longerNames = (name: string, all: Iterable<string>): readonly string[] =>
  [...all].filter(other => other.endsWith(`-${name}`)).sort()

/**
 * Returns the namespaces whose names are a suffix of a new name. Their hosts have to be checked before the new
 * namespace is created.
 */
export const shorterNames = (name: string, all: Iterable<string>): readonly string[] =>
  [...all].filter(other => name.endsWith(`-${other}`)).sort()

const isIn = (label: string, namespace: string): boolean => label === namespace || label.endsWith(`-${namespace}`)
