import { isPlatform } from '../../project/contexts/store.ts'
import type { Io } from '../terminal/io.ts'

/** Settings that `context use` stores. */
export interface UseValues {
  readonly token: string | undefined
  readonly namespace: string | undefined
  readonly builder: string | undefined
  readonly domain: string | undefined
  readonly registry: string | undefined
  /** Fingerprint of the certificate authority of a platform that has its own. */
  readonly caFingerprint: string | undefined
  /** False: a code is typed into a browser elsewhere. */
  readonly browser: boolean
}

/**
 * The fields of a stored context that the options set; `-` is how no value is printed, and forgets the one there is.
 */
export const fieldsOf = ({ namespace, builder, domain, registry }: UseValues) => ({
  ...(namespace && { namespace }),
  ...(builder && { builder: unlessNone(builder) }),
  ...(domain && { domain: unlessNone(domain) }),
  ...(registry && { registry: unlessNone(registry) }),
})

const unlessNone = (value: string): string => (value === '-' ? '' : value)

/** `Using context shop @ kind-dev`, the words of the specification; a platform goes by its host. */
export function usingContext(namespace: string, name: string): string {
  const host = isPlatform(name) && URL.canParse(name) ? new URL(name).host : name
  return `Using context ${namespace} @ ${host}`
}

/** Warns of variables in the shell that override the choice just made. */
export function warnOfVariables({ env, stderr }: Io, names: readonly string[]): void {
  // Without its value, which may hold a password: `https://user:password@host`.
  for (const name of names) if (env[name]) stderr.write(`warning: \`${name}\` is set and takes precedence\n`)
}
