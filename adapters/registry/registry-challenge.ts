/**
 * The authentication that a registry requires (RFC 9110, 11.6.1;
 * https://distribution.github.io/distribution/spec/auth/token/).
 */
export type Challenge =
  | { readonly scheme: 'basic' }
  | { readonly scheme: 'bearer'; readonly realm: URL; readonly service?: string; readonly scope?: string }

/** Pattern for a part of a `WWW-Authenticate` header: a scheme, a parameter, or both, with the preceding comma. */
const PART =
  /[\s,]*(?:([A-Za-z][\w-]*)(?=[\s,]|$)(?!\s*=)\s*)?(?:([A-Za-z][\w-]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/y

/**
 * Parses a `WWW-Authenticate` header, which may contain several challenges: returns the Bearer challenge if offered,
 * else the Basic challenge; undefined if the header offers neither.
 */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const challenges = challengesIn(header ?? '')
  const { realm, service, scope } = challenges.get('bearer') ?? {}
  if (realm !== undefined && URL.canParse(realm))
    return {
      scheme: 'bearer',
      realm: new URL(realm),
      ...(service !== undefined && { service }),
      ...(scope !== undefined && { scope }),
    }
  return challenges.has('basic') ? { scheme: 'basic' } : undefined
}

function challengesIn(header: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const found = new Map<string, Record<string, string>>()
  let parameters: Record<string, string> = {}
  for (PART.lastIndex = 0; PART.lastIndex < header.length; ) {
    const [part, scheme, name, quoted, plain] = PART.exec(header) ?? ['']
    if (part === '') break
    if (scheme !== undefined) {
      parameters = {}
      found.set(scheme.toLowerCase(), parameters)
    }
    if (name !== undefined) parameters[name.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? ''
  }
  return found
}
