import type { RegistrySessionOptions } from '../../adapters/registry/registry-session.ts'
import type { EnsureContext } from '../builder/builder.ts'

/** As often as a build. */
const RETRIES = { attempts: 3, pause: 1000 }

/** How registries are asked for the images of a build: what is waited for is told, once for all questions to a registry. */
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
