import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuilderTls } from '../../../adapters/buildkit/options.ts'
import { BuildSlots } from './build-slots.ts'
import type { BuilderSettings } from './builder-settings.ts'

/** Builders whose builds trust each other (design, section 9). */
export interface BuilderPool {
  /** Addresses of the BuildKit daemons. */
  readonly builders: readonly string[]
  readonly slots: BuildSlots
  readonly tls: BuilderTls | undefined
  /**
   * True if a builder is emptied before it runs builds of another namespace, so that no data of one namespace is left
   * for the next.
   */
  readonly isEmptied: boolean
}

export type PoolName = 'default' | 'untrusted'

/** The pools that have builders. */
export type Pools = Readonly<Partial<Record<PoolName, BuilderPool>>>

export function makePools(settings: BuilderSettings | undefined): Pools {
  if (!settings) return {}
  const { atOnce, certificates, serverName, oneNamespace } = settings
  const { untrustedCertificates = certificates, untrustedServerName = serverName } = settings
  return {
    ...(settings.default.length > 0 && {
      default: {
        builders: settings.default,
        slots: new BuildSlots(settings.default, atOnce, oneNamespace),
        tls: readCertificates(certificates, serverName),
        isEmptied: false,
      },
    }),
    ...(settings.untrusted.length > 0 && {
      untrusted: {
        builders: settings.untrusted,
        slots: new BuildSlots(settings.untrusted, atOnce, true),
        tls: readCertificates(untrustedCertificates, untrustedServerName),
        isEmptied: true,
      },
    }),
  }
}

function readCertificates(folder: string | undefined, serverName: string | undefined): BuilderTls | undefined {
  if (folder === undefined) return undefined
  const [ca, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map(name => readFileSync(join(folder, name)))
  return { ca: ca!, cert: cert!, key: key!, ...(serverName !== undefined && { serverName }) }
}
