import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { isUserId } from '../rules/names.ts'
import { MANAGED_LABEL, RECORD_LABEL, USER_LABEL, USERS_NAMESPACE } from './names.ts'

/** A refresh token with which the platform asks an identity provider whether the provider still knows a user. */
export interface AccountStanding {
  readonly user: string
  /** The id of the provider. */
  readonly provider: string
  /** The refresh token, sealed. */
  readonly sealed: string
  /** RFC 3339 time at which the provider was last asked. */
  readonly asked: string
  /** The `resourceVersion` of the record that was read; absent for a new record. */
  readonly version?: string
}

export const standingName = (user: string): string => `p-${user}`

/**
 * Returns the context that the sealed token is bound to. The token can be opened only with the same user and provider.
 */
export const sealedFor = ({ user, provider }: Pick<AccountStanding, 'user' | 'provider'>): string =>
  `standing/${user}/${provider}`

export const fromStanding = ({ user, version, ...rest }: AccountStanding): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name: standingName(user),
    namespace: USERS_NAMESPACE,
    labels: { [RECORD_LABEL]: 'standing', [MANAGED_LABEL]: 'true', [USER_LABEL]: user },
    ...(version !== undefined && { resourceVersion: version }),
  },
  type: 'dev.platform/standing',
  data: Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
})

/** Parses a record. Returns undefined if the platform did not write it. */
export function toStanding({ metadata, data }: KubeObject): AccountStanding | undefined {
  const user = metadata.name.replace(/^p-/, '')
  const text = (key: string) => {
    const found = (data as Readonly<Record<string, unknown>> | undefined)?.[key]
    return typeof found === 'string' ? Buffer.from(found, 'base64').toString() : ''
  }
  const [provider = '', sealed = '', asked = ''] = ['provider', 'sealed', 'asked'].map(text)
  const isWhole = metadata.name === standingName(user) && isUserId(user) && provider !== '' && sealed !== ''
  if (!isWhole || Number.isNaN(Date.parse(asked))) return undefined
  const { resourceVersion: version } = metadata
  return { user, provider, sealed, asked, ...(version !== undefined && { version }) }
}
