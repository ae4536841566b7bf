/** The builders of a platform, as its settings name them. */
export interface BuilderSettings {
  /** Addresses of BuildKit. */
  readonly default: readonly string[]
  /** For the code of strangers, such as forks. */
  readonly untrusted: readonly string[]
  /** Builds that one builder runs at the same time. */
  readonly atOnce: number
  /** A folder with `ca.crt`, `tls.crt` and `tls.key`; absent: builders of this machine, without TLS. */
  readonly certificates?: string
  /** The name in the certificates of all builders; absent: the host of each. */
  readonly serverName?: string
  /** A builder runs builds of one namespace at a time. */
  readonly oneNamespace?: boolean
}

/** Unless the settings say another number. */
const AT_ONCE = 4

/** Reads them from JSON. Throws an Error that names what is wrong. */
export function readBuilders(value: unknown): BuilderSettings {
  const found = (value ?? {}) as Readonly<Record<string, unknown>>
  const addresses = (key: string): readonly string[] => {
    const all = found[key] ?? []
    if (Array.isArray(all) && all.every(one => typeof one === 'string')) return all
    throw new Error(`settings: \`builders.${key}\` is no list of addresses`)
  }
  const { atOnce = AT_ONCE, certificates, serverName, oneNamespace = false } = found
  if (typeof atOnce !== 'number' || !Number.isInteger(atOnce) || atOnce < 1)
    throw new Error('settings: `builders.atOnce` is no number of builds')
  if (certificates !== undefined && typeof certificates !== 'string')
    throw new Error('settings: `builders.certificates` is no folder')
  if (serverName !== undefined && typeof serverName !== 'string')
    throw new Error('settings: `builders.serverName` is no name')
  if (typeof oneNamespace !== 'boolean') throw new Error('settings: `builders.oneNamespace` is neither true nor false')
  return {
    default: addresses('default'),
    untrusted: addresses('untrusted'),
    atOnce,
    ...(certificates !== undefined && { certificates }),
    ...(serverName !== undefined && { serverName }),
    ...(oneNamespace && { oneNamespace }),
  }
}
