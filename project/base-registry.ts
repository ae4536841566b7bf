import { copyIn } from '../adapters/registry/registry.ts'
import { registryPath } from './checks.ts'
import type { Workspace } from './workspace.ts'

/**
 * Name of the variable with a registry that has copies of public images. The variable is set in the shell, or for a
 * namespace of a platform.
 */
const BASE_REGISTRY = 'DEVCTL_BASE_REGISTRY'

/**
 * Returns the reference of an image that devctl adds to Pods. If DEVCTL_BASE_REGISTRY is set, refers to the copy of the
 * image in that registry. Throws a UsageError if the variable is not a registry.
 */
export function helperImage({ env, platformVariables }: Workspace, image: string): string {
  const registry = env[BASE_REGISTRY] || platformVariables?.get(BASE_REGISTRY)
  if (!registry) return image
  registryPath(registry, BASE_REGISTRY)
  return copyIn(registry, image)
}
