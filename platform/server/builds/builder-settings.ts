/** The builders of the platform, according to its settings. */
export interface BuilderSettings {
  /** Addresses of the BuildKit daemons for trusted code. */
  readonly default: readonly string[]
  /** Addresses of the BuildKit daemons for untrusted code, such as code of forks. */
  readonly untrusted: readonly string[]
  /** Maximum number of concurrent builds on one builder. */
  readonly atOnce: number
  /** Path of a folder with `ca.crt`, `tls.crt` and `tls.key`; absent for builders on this machine, which use no TLS. */
  readonly certificates?: string
  /** The name in the certificates of all builders. If absent, each certificate has to match the builder's host. */
  readonly serverName?: string
  /**
   * Folder of the certificates, and name in the certificates, for the builders of untrusted code. If absent, the
   * settings of the other builders apply.
   */
  readonly untrustedCertificates?: string
  readonly untrustedServerName?: string
  /** True if a builder runs builds of only one namespace at a time. Builders of untrusted code always do. */
  readonly oneNamespace?: boolean
}

/** Default number of concurrent builds on one builder. */
const AT_ONCE = 4

/** Parses the builder settings from JSON. Throws an Error that names the invalid setting. */
export function readBuilders(value: unknown): BuilderSettings {
  const found = (value ?? {}) as Readonly<Record<string, unknown>>
  const addresses = (key: string): readonly string[] => {
    const all = found[key] ?? []
    if (Array.isArray(all) && all.every(one => typeof one === 'string')) return all
    throw new Error(`settings: \`builders.${key}\` is not a list of addresses`)
  }
  const { atOnce = AT_ONCE, oneNamespace = false } = found
  const textOf = (key: string, what: string): string | undefined => {
    const text = found[key]
    if (text === undefined || typeof text === 'string') return text
    throw new Error(`settings: \`builders.${key}\` is not a ${what}`)
  }
  if (typeof atOnce !== 'number' || !Number.isInteger(atOnce) || atOnce < 1)
    throw new Error('settings: `builders.atOnce` is not a number of builds')
  if (typeof oneNamespace !== 'boolean') throw new Error('settings: `builders.oneNamespace` is neither true nor false')
  const texts = {
    certificates: textOf('certificates', 'folder'),
    serverName: textOf('serverName', 'name'),
    untrustedCertificates: textOf('untrustedCertificates', 'folder'),
    untrustedServerName: textOf('untrustedServerName', 'name'),
  }
  return {
    default: addresses('default'),
    untrusted: addresses('untrusted'),
    atOnce,
    // Omits settings that are undefined.
    ...(Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as object),
    ...(oneNamespace && { oneNamespace }),
  }
}
