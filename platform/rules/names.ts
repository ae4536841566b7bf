import { createHash } from 'node:crypto'
import { base32 } from './accounts/token.ts'

/**
 * Maximum length of a namespace's name. The first part of a host then has room for a dash and 22 characters of an
 * endpoint.
 */
const LONGEST_NAMESPACE = 40

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
/**
 * Pattern of names that are reserved for the cluster, the platform and, by convention, tools of an operator that trust
 * namespaces with such names. `shared` is reserved because the paths of shared images begin with it.
 */
const RESERVED = /^(kube-.*|devctl-.*|openshift(-.*)?|.*-system|default|platform|shared)$/

/** Returns the reason why a namespace must not have a name, as a clause; undefined if the name is allowed. */
export function namespaceNameProblem(name: string): string | undefined {
  if (!LABEL.test(name)) return 'it must consist of lower-case letters, digits and dashes, with no dash at either end'
  if (name.length > LONGEST_NAMESPACE) return `it has ${name.length} characters; the limit is ${LONGEST_NAMESPACE}`
  if (RESERVED.test(name)) return 'it is reserved'
  return undefined
}

/**
 * Returns the id of a user, which is also the name of the user's record: 80 bits of a hash of the issuer and the
 * subject.
 */
export const userId = (issuer: string, subject: string): string =>
  base32(createHash('sha256').update(`${issuer.length} ${issuer}${subject}`).digest()).slice(0, 16)

export const isUserId = (text: string): boolean => /^[a-z2-7]{16}$/.test(text)

/**
 * Returns the name of a user's personal namespace, from their user name at the provider, with a number if the name is
 * taken. If the user name has no usable letters, or the name is reserved, the name is derived from the id.
 */
export function personalNamespace(
  login: string,
  id: string,
  isTaken: (name: string) => boolean,
  isKept: (name: string) => boolean = () => false,
): string {
  const own = slug(login, LONGEST_NAMESPACE - 4)
  const byId = `dev-${id.slice(0, 8)}`
  const first = own === '' || RESERVED.test(own) || isKept(own) ? byId : own
  if (!isTaken(first)) return first
  // A name with any other number is reserved, too, if this one is.
  const base = isKept(`${first}-2`) ? byId : first
  for (let number = 2; ; number++) if (!isTaken(`${base}-${number}`)) return `${base}-${number}`
}

/**
 * Returns the name of a branch's preview: `shop-feature-login`, shortened with a hash if it is too long, and with a
 * prefix and a hash if it is reserved (design, section 7). A branch with letters that a name cannot contain gets a
 * hash, too: otherwise all branches in Japanese would have the same name.
 */
export function previewName(repository: string, branch: string): string {
  const whole = slug(`${repository}-${branch}`, Number.POSITIVE_INFINITY)
  const isReserved = RESERVED.test(whole)
  const isLost = /[^ -~]/.test(branch) || slug(branch, 1) === ''
  if (whole.length <= LONGEST_NAMESPACE && whole !== '' && !isReserved && !isLost) return whole
  const hash = base32(createHash('sha256').update(`${repository} ${branch}`).digest()).slice(0, 6)
  const named = isReserved ? `preview-${whole}` : whole
  // A truncated name could be a reserved one again if the hash were missing.
  return `${slug(named, LONGEST_NAMESPACE - 7) || 'preview'}-${hash}`
}

/** Converts a text to characters that are valid in a DNS label, up to a maximum length. */
function slug(text: string, longest: number): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  return letters.replace(/^-+/, '').slice(0, longest).replace(/-+$/, '')
}
