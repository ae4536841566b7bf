import type { BuilderError } from '../../adapters/buildkit/failure.ts'
import { registryOf } from '../../adapters/registry/registry.ts'
import { loginCommand } from '../../adapters/registry/registry-problem.ts'

/**
 * Returns the hint for a push that a registry rejected (recognized by the text of the error); undefined for another
 * error.
 */
export function pushHint({ kind, message }: BuilderError): string | undefined {
  const [, image] = /failed to push (\S+):/.exec(message) ?? []
  if (kind !== 'registry' || image === undefined) return undefined
  const login = loginCommand(registryOf(image))
  if (DENIED.test(message)) return `log in with an account that may push there: ${login}`
  if (/\b429\b|toomanyrequests/i.test(message)) return `try again later, or log in: ${login}`
  if (FAILING.test(message)) return `the registry \`${registryOf(image)}\` fails: look at its log, or try again later`
  if (NOT_REACHED.test(message)) return `check that the builder can reach \`${registryOf(image)}\` under this name`
  return undefined
}

const DENIED = /\b40[13]\b|access denied|insufficient_scope|authorization failed|unauthorized|denied:/i

const FAILING = /answers 5\d\d\b|\b50[0234] [A-Z]/

const NOT_REACHED =
  /connection refused|no such host|i\/o timeout|no route to host|server gave HTTP response|certificate/i
