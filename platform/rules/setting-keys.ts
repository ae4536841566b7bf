import { didYouMean } from '../../compiler/diagnostics/suggest.ts'

/** The settings, and the keys of those that are objects with fixed ones. `platform install` keeps some for itself. */
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
  runs: ['image', 'url', 'perUser', 'inAll', 'deadline'],
  sleepHours: ['namespace', 'preview'],
  trustedProxies: undefined,
  url: undefined,
}

/** A key of the settings that no version knows: a typing error, or of a newer version. */
export interface UnknownSetting {
  /** `namespacePerUser`, `runs.perUsers` */
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
