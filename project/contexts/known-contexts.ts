import { devctlHome, type Surroundings } from './home.ts'
import { readKubeconfigNames } from './kubeconfig-names.ts'
import { platformOf } from './platform-of-environment.ts'
import { isPlatform, readContexts } from './store.ts'
import { chooseContext, findTarget } from './target.ts'

/** A context as `devctl context` prints it. */
export interface KnownContext {
  readonly name: string
  /** True if there is a token for it; nothing more of it is ever shown. */
  readonly hasToken: boolean
  /** The namespace that a command takes now; `-`: the person's own one, which the platform tells. */
  readonly namespace: string
  /** Namespace of the context, ignoring environment variables. */
  readonly ownNamespace: string
  /**
   * An address; `docker`: images are built by the engine of this machine; `platform`: by the platform's own builders,
   * if it has some.
   */
  readonly builder: string
  /** `-` for none; `platform`: that of the platform, which has not told it to this machine. */
  readonly registry: string
  /** `-` for none. */
  readonly domain: string
  readonly isPlatform: boolean
  readonly isCurrent: boolean
  /** True if it comes from `DEVCTL_URL`, with a token in `DEVCTL_TOKEN`: its stored settings do not apply. */
  readonly isOfEnvironment: boolean
  /** devctl remembers it, but the kubeconfig does not have it any more. */
  readonly isGone: boolean
}

/**
 * Every context there is: platforms first, then those of the kubeconfig, each by name. The current
 * one is that which a command without options would take. Throws a UserError for files that are
 * broken.
 */
export async function knownContexts(around: Surroundings): Promise<readonly KnownContext[]> {
  const stored = readContexts(devctlHome(around))
  const kubeconfig = await readKubeconfigNames(around)
  const [current] = chooseContext({ options: {}, env: around.env, manifest: {}, stored, kubeconfig }) ?? []
  // Contexts that `devctl kubeconfig` has written for a platform are for kubectl: devctl has the platform itself.
  const isOurs = (name: string, platform: string | undefined) => platform !== undefined && name !== current
  const others = [...kubeconfig.contexts].flatMap(([name, { platform }]) => (isOurs(name, platform) ? [] : [name]))
  const environment = loginOfEnvironment(around.env)
  const names = [...new Set([...stored.contexts.keys(), ...others, ...(environment ? [environment] : [])])]
  return names
    .sort((a, b) => Number(isPlatform(b)) - Number(isPlatform(a)) || (a < b ? -1 : 1))
    .map(name => {
      const isOfEnvironment = name === environment
      // Nothing that is remembered counts for it (`chooseTarget`); its own namespace is known to the platform alone.
      const record = isOfEnvironment ? undefined : stored.contexts.get(name)
      const isCurrent = name === current
      const ownNamespace =
        record?.namespace ?? kubeconfig.contexts.get(name)?.namespace ?? (isOfEnvironment ? '-' : 'default')
      const ownRegistry = isPlatform(name) ? (record?.platformRegistry ?? 'platform') : '-'
      return {
        name,
        hasToken: isOfEnvironment || record?.token !== undefined,
        namespace: (isCurrent && around.env.DEVCTL_NAMESPACE) || ownNamespace,
        ownNamespace,
        builder: record?.builder ?? (isPlatform(name) ? 'platform' : 'docker'),
        registry: (isCurrent && around.env.DEVCTL_REGISTRY) || (record?.registry ?? ownRegistry),
        domain: (isCurrent && around.env.DEVCTL_DOMAIN) || (record?.domain ?? '-'),
        isPlatform: isPlatform(name),
        isCurrent,
        isOfEnvironment,
        isGone: !isPlatform(name) && !kubeconfig.contexts.has(name),
      }
    })
}

function loginOfEnvironment(env: Surroundings['env']): string | undefined {
  try {
    return env.DEVCTL_TOKEN?.trim() ? platformOf(env) : undefined
  } catch {
    // Said by the commands that would use it.
    return undefined
  }
}

/**
 * The current one of them. Throws a UserError when there is none, or the kubeconfig does not have
 * it any more.
 */
export async function currentContext(around: Surroundings): Promise<KnownContext> {
  const current = (await knownContexts(around)).find(({ isCurrent }) => isCurrent)
  if (current !== undefined && !current.isGone) return current
  // Says what is missing.
  const { context } = await findTarget(around, {})
  throw new Error(`\`${context}\` is in the kubeconfig, and is not`)
}
