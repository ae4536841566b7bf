import { configHome, type Surroundings } from './home.ts'
import { readKubeconfigNames } from './kubeconfig-names.ts'
import { platformOf } from './platform-of-environment.ts'
import { isPlatform, readContexts } from './store.ts'
import { chooseContext, findTarget } from './target.ts'

/** Context as shown by `devctl context`. */
export interface KnownContext {
  readonly name: string
  /** True if devctl has a token for the context. The token itself is never shown. */
  readonly hasToken: boolean
  /** Namespace that a command uses now; `-` for the user's own namespace, which only the platform knows. */
  readonly namespace: string
  /** Namespace of the context, ignoring environment variables. */
  readonly ownNamespace: string
  /**
   * Address of a builder, `docker` for the engine of this machine, or `platform` for the builders of the platform, if
   * it has any.
   */
  readonly builder: string
  /** Registry; `-` for none, `platform` for the platform's registry, which this machine does not know. */
  readonly registry: string
  /** Domain; `-` for none. */
  readonly domain: string
  readonly isPlatform: boolean
  readonly isCurrent: boolean
  /** True if the context comes from `DEVCTL_URL`, with a token in `DEVCTL_TOKEN`: its stored settings do not apply. */
  readonly isOfEnvironment: boolean
  /** True if devctl has stored the context, but the kubeconfig no longer contains it. */
  readonly isGone: boolean
}

/**
 * Returns all contexts: platforms first, then the contexts of the kubeconfig, each sorted by name. The current context
 * is the context that a command without options uses. Throws a UserError for damaged files.
 */
export async function knownContexts(around: Surroundings): Promise<readonly KnownContext[]> {
  const stored = readContexts(configHome(around))
  const kubeconfig = await readKubeconfigNames(around)
  const [current] = chooseContext({ options: {}, env: around.env, manifest: {}, stored, kubeconfig }) ?? []
  // Contexts that `devctl kubeconfig` has written for a platform are meant for kubectl: devctl lists the platform
  // itself.
  const isOurs = (name: string, platform: string | undefined) => platform !== undefined && name !== current
  const others = [...kubeconfig.contexts].flatMap(([name, { platform }]) => (isOurs(name, platform) ? [] : [name]))
  const environment = loginOfEnvironment(around.env)
  const names = [...new Set([...stored.contexts.keys(), ...others, ...(environment ? [environment] : [])])]
  return names
    .sort((a, b) => Number(isPlatform(b)) - Number(isPlatform(a)) || (a < b ? -1 : 1))
    .map(name => {
      const isOfEnvironment = name === environment
      // Stored settings do not apply to it (`chooseTarget`), and only the platform knows its namespace.
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
    // Commands that use the variables report the error.
    return undefined
  }
}

/** Returns the current context. Throws a UserError if none is selected, or the kubeconfig no longer contains it. */
export async function currentContext(around: Surroundings): Promise<KnownContext> {
  const current = (await knownContexts(around)).find(({ isCurrent }) => isCurrent)
  if (current !== undefined && !current.isGone) return current
  // Throws an error that names the missing context or setting.
  const { context } = await findTarget(around, {})
  throw new Error(`\`${context}\` is in the kubeconfig, and is not`)
}
