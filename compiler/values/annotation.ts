import { isDnsSubdomain } from './dns-name.ts'

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/

/**
 * True if Kubernetes accepts a text as the key of a label or annotation: a name of at most 63
 * characters, optionally after a DNS subdomain and `/`.
 * (https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/)
 */
export function isAnnotationKey(key: string): boolean {
  const slash = key.indexOf('/')
  const name = key.slice(slash + 1)
  // Annotation keys may have capitals in the prefix: the API server checks them in lower case.
  if (slash >= 0 && !isDnsSubdomain(key.slice(0, slash).toLowerCase())) return false
  return name.length <= 63 && NAME.test(name)
}

/**
 * True if Kubernetes takes a text as the key of a label: as an annotation's, with the prefix in
 * lower case.
 */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/')
  return isAnnotationKey(key) && (slash < 0 || isDnsSubdomain(key.slice(0, slash)))
}

/**
 * True if a text can be the name of a resource that a device plugin announces: `PREFIX/NAME`, with
 * a prefix that is not Kubernetes' own.
 * (https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#extended-resources)
 */
export const isExtendedResource = (name: string): boolean =>
  name.includes('/') && isLabelKey(`requests.${name}`) && isLabelKey(name) && !/^requests\.|kubernetes\.io\//.test(name)

/**
 * True if Kubernetes accepts a text as the value of a label: empty, or at most 63 letters, digits
 * and `-_.` between letters or digits.
 */
export const isLabelValue = (value: string): boolean => value === '' || (value.length <= 63 && NAME.test(value))
