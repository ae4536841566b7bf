import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, RECORD_LABEL, USERS_NAMESPACE } from './names.ts'

/** A pending login of a CLI. It is valid for a few minutes, and can be used once. */
export type OneTime =
  | {
      /** A user has approved the login of a CLI. */
      readonly kind: 'code'
      readonly user: string
      readonly label: string
      /** RFC 7636 code challenge: the hash of a secret that only this CLI knows. */
      readonly challenge: string
      readonly expires: string
    }
  | {
      /** A CLI without a browser waits until a user enters its code (RFC 8628). */
      readonly kind: 'device'
      readonly label: string
      /** Hash of the code. */
      readonly code: string
      readonly created: string
      readonly expires: string
      /** The id of the user who has approved the login; absent until a user approves it. */
      readonly user?: string
      readonly isRefused?: boolean
    }

export const oneTimeName = (id: string): string => `x-${id}`

export const fromOneTime = (id: string, value: OneTime): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: oneTimeName(id),
    namespace: USERS_NAMESPACE,
    labels: { [RECORD_LABEL]: 'one-time', [MANAGED_LABEL]: 'true' },
  },
  type: 'dev.platform/one-time',
  data: { value: Buffer.from(JSON.stringify(value)).toString('base64') },
})

/** Parses a record. Returns undefined if the platform did not write it. */
export function toOneTime({ data }: KubeObject): OneTime | undefined {
  const text = (data as { readonly value?: unknown } | undefined)?.value
  if (typeof text !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64').toString())
    return isOneTime(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isOneTime(value: unknown): value is OneTime {
  const found = (value ?? {}) as Readonly<Record<string, unknown>>
  const are = (...keys: readonly string[]) => keys.every(key => typeof found[key] === 'string')
  if (!are('label', 'expires') || Number.isNaN(Date.parse(String(found['expires'])))) return false
  return found['kind'] === 'code' ? are('user', 'challenge') : found['kind'] === 'device' && are('code', 'created')
}
