import type { RegistrySessionOptions } from '../../adapters/registry/registry-session.ts'
import type { EnsureContext } from '../builder/builder.ts'

/** Number of attempts and first pause, in milliseconds, of registry requests. Builds use the same numbers. */
const RETRIES = { attempts: 3, pause: 1000 }

/**
 * Returns the settings for requests to the registries of a build's images. Each wait for a registry is reported once,
 * even if several requests are waiting.
 */
export function registryOptions(
  { workspace: { env, platformImages }, on }: EnsureContext,
  signal: AbortSignal,
): RegistrySessionOptions {
  const told = new Set<string>()
  return {
    env,
    signal,
    ...(platformImages && { loginTo: registry => platformImages.login(registry) }),
    retries: RETRIES,
    onRetry: ({ host, reason, attempt, of, wait }) => {
      const key = `${host} ${attempt}`
      if (told.has(key)) return
      told.add(key)
      const seconds = Math.max(1, Math.round(wait / 1000))
      on({ type: 'note', text: `\`${host}\`: attempt ${attempt} of ${of} in ${seconds} s: ${reason}` })
    },
  }
}
