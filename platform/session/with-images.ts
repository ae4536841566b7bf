import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import type { Target } from '../../project/contexts/target.ts'
import type { Workspace } from '../../project/workspace.ts'
import { PlatformRefusal } from '../client/client.ts'
import { type Effective, fetchEffective } from './effective.ts'
import { namespaceImages } from './namespace-images.ts'

type OnPlatform = Pick<Target, 'context' | 'namespace' | 'stored'>

/**
 * Returns the workspace with the registry of the platform added, but not the platform's variables. Returns it unchanged
 * if the target is not a platform, or if the user may not deploy to the namespace. Throws a UserError if the platform
 * does not answer.
 */
export async function withPlatformImages<W extends Workspace>(
  workspace: W,
  target: OnPlatform,
  signal: AbortSignal,
): Promise<W> {
  if (!isPlatform(target.context)) return workspace
  try {
    const { images } = await fetchEffective(target, workspace, signal)
    return { ...workspace, ...imagesOf(images, target, workspace, signal) }
  } catch (error) {
    if (isRefused(error)) return workspace
    throw error
  }
}

/** Returns the workspace property with the platform's information about the images of a namespace. */
export const imagesOf = (
  images: Effective['images'],
  target: OnPlatform,
  { env, secrets }: Workspace,
  signal: AbortSignal,
): Pick<Workspace, 'platformImages'> | undefined =>
  images && { platformImages: namespaceImages(images, target, env, signal, text => secrets?.add([text])) }

/** True if the platform denies access to the namespace. False for other errors, such as a login that has ended. */
const isRefused = (error: unknown): boolean =>
  error instanceof UserError && error.cause instanceof PlatformRefusal && [403, 404].includes(error.cause.status)
