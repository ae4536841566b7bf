import { didYouMean } from '../../compiler/diagnostics/suggest.ts'

/**
 * The keys of the settings. The value is the list of inner keys for a setting that is an object with fixed keys, and
 * undefined for any other setting. `platform install` writes some of the settings itself.
 */
const KEYS: Readonly<Record<string, readonly string[] | undefined>> = {
  bundledBuilders: undefined,
  bundledRegistry: undefined,
  builders: undefined,
  ci: undefined,
  clusterNetworks: undefined,
  clusterNetworksNamed: undefined,
  deleteHours: ['namespace', 'preview'],
  domain: undefined,
  forges: undefined,
  kubernetes: undefined,
  namespacesPerUser: undefined,
  previewsPerUser: undefined,
  privateNetworks: undefined,
  providers: undefined,
  quota: undefined,
  registry: undefined,
  registryShare: undefined,
  registryTokens: undefined,
  runs: ['image', 'url', 'perUser', 'inAll', 'deadline', 'authorities'],
  sleepHours: ['namespace', 'preview'],
  trustedProxies: undefined,
  url: undefined,
}

/** An unknown key of the settings: a typo, or a key of a newer version. */
export interface UnknownSetting {
  /** Path of the key, such as `namespacePerUser` or `runs.perUsers`. */
  readonly key: string
  readonly hint?: string
}

export function unknownSettings(settings: object): readonly UnknownSetting[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    if (!Object.hasOwn(KEYS, key)) return unknown(key, Object.keys(KEYS))
    const inner = KEYS[key]
    if (!inner || typeof value !== 'object' || value === null) return []
    return Object.keys(value)
      .filter(one => !inner.includes(one))
      .flatMap(one => unknown(one, inner, `${key}.`))
  })
}

function unknown(key: string, known: readonly string[], prefix = ''): readonly UnknownSetting[] {
  const hint = didYouMean(key, known)
  return [{ key: `${prefix}${key}`, ...(hint !== undefined && { hint }) }]
}
