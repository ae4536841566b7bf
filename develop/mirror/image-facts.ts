import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import type { ImageConfig } from '../../compiler/values/images/image-config.ts'
import type { User } from '../../constructs/mirror/settings.ts'
import type { OperationContext } from '../../project/session.ts'

/**
 * Timeout for a registry request in milliseconds. It is short because a Pod can also determine the user of its image.
 */
const DEADLINE = 1500

/** Returns the configuration of an image from its registry; undefined if the registry does not provide it in time. */
export async function imageConfig(
  image: string,
  { workspace, session }: OperationContext,
): Promise<ImageConfig | undefined> {
  const { fetchImageConfigs } = await import('../../adapters/registry/image-configs.ts')
  const signal = withTimeLimit(DEADLINE, session.signal)
  try {
    const found = (await fetchImageConfigs([image], { env: workspace.env, signal })).get(image)
    return found && 'config' in found ? found.config : undefined
  } catch {
    session.signal.throwIfAborted()
    return undefined
  }
}

/**
 * Parses the `USER` of a Dockerfile, such as `1000:1000`. An image without `USER` runs as root. Returns undefined for a
 * user name.
 */
export function parseUser(text: string): User | undefined {
  if (text === '') return { uid: 0, gid: 0 }
  const [, uid, gid] = /^(\d+)(?::(\d+))?$/.exec(text) ?? []
  if (uid === undefined) return undefined
  return { uid: Number(uid), ...(gid !== undefined && { gid: Number(gid) }) }
}
