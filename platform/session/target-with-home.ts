import type { Surroundings } from '../../project/contexts/home.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import { findTarget, NO_NAMESPACE, type Target, type TargetOptions } from '../../project/contexts/target.ts'

/** Cache of the users' own namespaces, by platform and token. */
const known = new Map<string, Promise<string | undefined>>()

/**
 * Resolves the target like `findTarget`. If the target is a platform and no setting names a namespace, uses the user's
 * own namespace. A login stores this namespace; for a token from the environment, the platform is asked once.
 */
export async function findTargetWithHome(
  around: Surroundings,
  options: TargetOptions,
  manifest?: TargetOptions,
  signal?: AbortSignal,
): Promise<Target> {
  return withHome(around, await findTarget(around, options, manifest), signal)
}

/**
 * Returns the target with the user's own namespace, if `findTarget` found a platform but no namespace. Returns other
 * targets unchanged.
 */
export async function withHome(around: Surroundings, target: Target, signal?: AbortSignal): Promise<Target> {
  const { context, from, stored } = target
  // A token from the environment belongs to a program, so its use is neither stored nor counted.
  if (isPlatform(context) && stored.kubernetes) around.onPlatform?.(context)
  if (!isPlatform(context) || from.namespace !== NO_NAMESPACE) return target
  const key = `${context} ${stored.token?.reveal()}`
  const asked = known.get(key) ?? askForHome(around, target, signal)
  known.set(key, asked)
  const home = await asked.catch(error => {
    known.delete(key)
    throw error
  })
  // A CI job has no namespace of its own.
  return home === undefined ? target : { ...target, namespace: home, from: { ...from, namespace: 'the own namespace' } }
}

async function askForHome(
  { env }: Surroundings,
  { context, stored }: Target,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { connectPlatform } = await import('./connect-platform.ts')
  return (await connectPlatform(context, stored.token, env).call('GET /me', {}, signal)).home
}
