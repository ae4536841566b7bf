/** The builders of a platform, as its settings name them. */
export interface BuilderSettings {
  /** Addresses of BuildKit. */
  readonly default: readonly string[]
  /** Addresses of BuildKit for untrusted code, such as that of forks. */
  readonly untrusted: readonly string[]
  /** Builds that one builder runs at the same time. */
  readonly atOnce: number
  /** A folder with `ca.crt`, `tls.crt` and `tls.key`; absent: builders on this machine, without TLS. */
  readonly certificates?: string
  /** The name in the certificates of all builders; absent: the host of each. */
  readonly serverName?: string
  /** Folder and name for the builders of untrusted code; absent: those of the other builders. */
  readonly untrustedCertificates?: string
  readonly untrustedServerName?: string
  /** A builder runs builds of one namespace at a time. Those for untrusted code always do. */
  readonly oneNamespace?: boolean
}

/** The default if the settings do not say. */
const AT_ONCE = 4

/** Reads them from JSON. Throws an Error that names what is wrong. */
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
    // Leaves out what is undefined.
    ...(Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined)) as object),
    ...(oneNamespace && { oneNamespace }),
  }
}
