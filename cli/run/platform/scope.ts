import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import type { Context } from '../../command.ts'
import { type OnPlatform, onPlatform } from './on-platform.ts'

/**
 * Values of the options that select a scope (`--namespace`, `--user` or `--admin`), and of `--context` and `--timeout`.
 */
export interface ScopeValues {
  readonly namespace: string | undefined
  readonly user: boolean
  readonly admin?: boolean
  readonly context: string | undefined
  readonly timeout: number | undefined
}

/** The connection and the scope of a command for a namespace, a user or everyone. */
export interface OnScope extends Pick<OnPlatform, 'platform' | 'signal'> {
  readonly namespace: string
  /** Scope as it appears in routes: `user`, `admin` or `namespace:NAME`. */
  readonly scope: string
  /** True if an option selected the scope. */
  readonly isChosen: boolean
}

/**
 * Runs the work on the platform of the context, in the scope that the options select. Throws a UsageError if the
 * options select two scopes.
 */
export async function onScope(
  { io }: Context,
  { namespace: wanted, user, admin = false, context, timeout }: ScopeValues,
  command: 'variables' | 'credentials',
  work: (on: OnScope) => Promise<number>,
): Promise<number> {
  const chosen = [wanted !== undefined && '--namespace', user && '--user', admin && '--admin'].filter(Boolean)
  if (chosen.length > 1) throw new UsageError(`\`${chosen.join('` and `')}\` cannot be combined`)
  return onPlatform(io, {
    command,
    options: { context, namespace: wanted },
    instead: () => INSTEAD[command],
    timeout,
    hint: `is the platform running? \`devctl ${command} list\` shows what was done`,
    work({ platform, target: { namespace }, signal }) {
      const scope = user ? 'user' : admin ? 'admin' : `namespace:${namespace}`
      return work({ platform, namespace, scope, isChosen: chosen.length > 0, signal })
    },
  })
}

const INSTEAD = {
  variables: 'set variables in the shell, in `.env` beside the Compose file, or with `--var`',
  credentials: 'git on this machine clones with its own credentials',
}

/** Returns a scope as text for a sentence: `namespace shop`. */
export const whose = (scope: string): string =>
  scope === 'admin' ? 'everyone' : scope === 'user' ? 'you' : scope.replace(/^namespace:/, 'namespace ')
