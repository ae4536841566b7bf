import type { RegistryCredentials } from '../../adapters/registry/docker-config.ts'
import { registryOf } from '../../adapters/registry/registry.ts'
import type { Target } from '../../project/contexts/target.ts'
import type { NamespaceImages } from '../../project/workspace.ts'
import { connectPlatform } from './connect-platform.ts'

/** Remaining validity in milliseconds below which a login is replaced with a new one. */
const MARGIN = 300_000

type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns access to the images of a namespace. `name` is the prefix of the image names, as reported by the platform.
 * Requests a login when the registry of these images requires one. The login covers only the images of this namespace,
 * because builders see it. `onSecret` receives the password of the login.
 */
export function namespaceImages(
  { name, hasLogin }: { readonly name: string; readonly hasLogin: boolean },
  { context, namespace, stored }: Pick<Target, 'context' | 'namespace' | 'stored'>,
  env: Env,
  signal: AbortSignal,
  onSecret: (text: string) => void,
): NamespaceImages {
  const host = registryOf(`${name}/image`)
  let last: Promise<{ readonly credentials: RegistryCredentials; readonly ends: number }> | undefined
  const ask = async () => {
    const platform = connectPlatform(context, stored.token, env)
    const route = 'POST /namespaces/:ns/registry-login'
    const { username, password, expires } = await platform.call(route, { params: { ns: namespace } }, signal)
    onSecret(password)
    return { credentials: { kind: 'login', username, password } as const, ends: Date.parse(expires) }
  }
  return {
    name,
    async login(registry) {
      if (!hasLogin || registry !== host) return undefined
      if (last && (await last).ends - MARGIN < Date.now()) last = undefined
      last ??= ask()
      try {
        return (await last).credentials
      } catch (error) {
        last = undefined
        throw error
      }
    },
  }
}
