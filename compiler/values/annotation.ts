import { isDnsSubdomain } from './dns-name.ts'

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/**
 * Returns true if Kubernetes accepts a text as the key of an annotation: a name of at most 63 characters, optionally
 * after a DNS subdomain and `/`. (https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/)
 */
export function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/')
  const name = key.slice(slash + 1)
  // The prefix of an annotation key may contain capital letters, because the API server converts it to lower case
  // before the check.
  if (slash >= 0 && !isDnsSubdomain(key.slice(0, slash).toLowerCase())) return false
  return name.length <= 63 && NAME.test(name)
}

/** Returns true if Kubernetes accepts a text as the key of a label: an annotation key whose prefix is in lower case. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/')
  return isAnnotationKey(key) && (slash < 0 || isDnsSubdomain(key.slice(0, slash)))
}

/**
 * Returns true if a text can be the name of an extended resource of a device plugin: `PREFIX/NAME`, with a prefix that
 * is not Kubernetes' own.
 * (https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources)
 */
export const isExtendedResource = (name: string): boolean =>
  name.includes('/') && isLabelKey(`requests.${name}`) && isLabelKey(name) && !/^requests\.|kubernetes\.io\//.test(name)

/**
 * Returns true if Kubernetes accepts a text as the value of a label: empty, or at most 63 characters of letters, digits
 * and `-_.`, starting and ending with a letter or digit.
 */
export const isLabelValue = (value: string): boolean => value === '' || (value.length <= 63 && NAME.test(value))
