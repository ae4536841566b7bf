import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuilderTls } from '../../../adapters/buildkit/options.ts'
import { BuildSlots } from './build-slots.ts'
import type { BuilderSettings } from './builder-settings.ts'

/** Where builds run that trust each other (design, section 9). */
export interface BuilderPool {
  /** Addresses of BuildKit. */
  readonly builders: readonly string[]
  readonly slots: BuildSlots
  readonly tls: BuilderTls | undefined
}

export type PoolName = 'default' | 'untrusted'

/** Those that have builders. */
export type Pools = Readonly<Partial<Record<PoolName, BuilderPool>>>

export function makePools(settings: BuilderSettings | undefined): Pools {
  if (!settings) return {}
  const tls =
    settings.certificates === undefined ? undefined : readCertificates(settings.certificates, settings.serverName)
  const pool = (builders: readonly string[]): BuilderPool => ({
    builders,
    slots: new BuildSlots(builders, settings.atOnce, settings.oneNamespace),
    tls,
  })
  return {
    ...(settings.default.length > 0 && { default: pool(settings.default) }),
    ...(settings.untrusted.length > 0 && { untrusted: pool(settings.untrusted) }),
  }
}

function readCertificates(folder: string, serverName: string | undefined): BuilderTls {
  const [ca, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map(name => readFileSync(join(folder, name)))
  return { ca: ca!, cert: cert!, key: key!, ...(serverName !== undefined && { serverName }) }
}
