import { isPlatform } from '../../project/contexts/store.ts'
import type { Io } from '../terminal/io.ts'

/** Settings that `context use` stores. */
export interface UseValues {
  readonly token: string | undefined
  readonly tokenFile: string | undefined
  readonly namespace: string | undefined
  readonly builder: string | undefined
  readonly domain: string | undefined
  readonly registry: string | undefined
  /** Fingerprint of the platform's own certificate authority. */
  readonly caFingerprint: string | undefined
  /**
   * True if a login may open a browser on this machine; false if the user types a code into any browser, possibly on
   * another machine.
   */
  readonly browser: boolean
}

/**
 * Returns the fields to store for a context, from the options that are set. An option with the value `-` deletes the
 * stored value, because commands print `-` for an unset field.
 */
export const fieldsOf = ({ namespace, builder, domain, registry }: UseValues) => ({
  ...(namespace && { namespace }),
  ...(builder && { builder: unlessNone(builder) }),
  ...(domain && { domain: unlessNone(domain) }),
  ...(registry && { registry: unlessNone(registry) }),
})

const unlessNone = (value: string): string => (value === '-' ? '' : value)

/**
 * Returns `Using context shop @ kind-dev`, the wording of devctl's specification. For a platform, `name` is a URL, of
 * which only the host is shown.
 */
export function usingContext(namespace: string, name: string): string {
  const host = isPlatform(name) && URL.canParse(name) ? new URL(name).host : name
  return `Using context ${namespace} @ ${host}`
}

/** Warns of variables in the shell that override the choice just made. */
export function warnOfVariables({ env, stderr }: Io, names: readonly string[]): void {
  // Do not print the value, because it may contain a password: `https://user:password@host`.
  for (const name of names) if (env[name]) stderr.write(`warning: \`${name}\` is set and takes precedence\n`)
}
