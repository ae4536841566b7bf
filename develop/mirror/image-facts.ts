import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import type { ImageConfig } from '../../compiler/values/images/image-config.ts'
import type { User } from '../../constructs/mirror/settings.ts'
import type { OperationContext } from '../../project/session.ts'

/** Milliseconds for asking a registry: a Pod can find out its user without it. */
const DEADLINE = 1500

/** The configuration of an image in its registry; undefined if the registry does not give it soon. */
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

/** `1000:1000` of a Dockerfile's `USER`; an image without one runs as root. Undefined for names. */
export function parseUser(text: string): User | undefined {
  if (text === '') return { uid: 0, gid: 0 }
  const [, uid, gid] = /^(\d+)(?::(\d+))?$/.exec(text) ?? []
  if (uid === undefined) return undefined
  return { uid: Number(uid), ...(gid !== undefined && { gid: Number(gid) }) }
}
