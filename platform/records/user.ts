import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_ROLES, type PlatformRole } from '../rules/accounts/roles.ts'
import { isUserId } from '../rules/names.ts'
import { MANAGED_LABEL, RECORD_LABEL, USERS_NAMESPACE, userAccount } from './names.ts'

/**
 * A user of the platform, stored as a ServiceAccount in `devctl-users`. Issuer and subject identify the user; the other
 * fields are for display.
 */
export interface PlatformUser {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  /** The user name at the identity provider, such as `ann`. */
  readonly login: string
  readonly name?: string
  readonly email?: string
  readonly role: PlatformRole
  /** Name of the user's personal namespace. */
  readonly home?: string
  /** RFC 3339 time of the user's last login. */
  readonly lastLogin: string
  /** True if an administrator has suspended the user. */
  readonly isSuspended?: boolean
  /** RFC 3339 time at which the provider last confirmed the account in a check; logins do not change it. */
  readonly asked?: string
  /** True if the provider no longer knew the account when the platform last asked. The next login clears this. */
  readonly isRefused?: boolean
  /** RFC 3339 time at which the user was last suspended or refused. */
  readonly barred?: string
}

const PREFIX = 'dev.platform/'
/** Annotation with a user's role on the platform. */
export const ROLE = `${PREFIX}role`

export function fromUser({
  id,
  issuer,
  subject,
  login,
  name,
  email,
  role,
  home,
  lastLogin,
  isSuspended,
  asked,
  isRefused,
  barred,
}: PlatformUser): KubeObject {
  const values = {
    issuer,
    subject,
    login,
    name,
    email,
    role,
    home,
    'last-login': lastLogin,
    suspended: isSuspended,
    asked,
    refused: isRefused,
    barred,
  }
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== false)
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {
      name: userAccount(id),
      namespace: USERS_NAMESPACE,
      labels: { [RECORD_LABEL]: 'user', [MANAGED_LABEL]: 'true' },
      annotations: Object.fromEntries(kept.map(([key, value]) => [`${PREFIX}${key}`, String(value)])),
    },
    // Users connect from outside the cluster; no Pod uses this account.
    automountServiceAccountToken: false,
  }
}

/** Parses a ServiceAccount. Returns undefined if the ServiceAccount is not a valid user; such an account is skipped. */
export function toUser({ metadata }: KubeObject): PlatformUser | undefined {
  const id = metadata.name.replace(/^u-/, '')
  const value = (key: string) => {
    const found: unknown = metadata.annotations?.[`${PREFIX}${key}`]
    return typeof found === 'string' && found !== '' ? found : undefined
  }
  const [issuer, subject, login] = [value('issuer'), value('subject'), value('login')]
  if (metadata.name !== userAccount(id) || !isUserId(id) || !issuer || !subject || !login) return undefined
  const [name, email, home, asked, barred] = ['name', 'email', 'home', 'asked', 'barred'].map(value)
  return {
    id,
    issuer,
    subject,
    login,
    ...(name && { name }),
    ...(email && { email }),
    role: PLATFORM_ROLES.find(one => one === value('role')) ?? 'developer',
    ...(home && { home }),
    lastLogin: value('last-login') ?? '1970-01-01T00:00:00Z',
    ...(value('suspended') === 'true' && { isSuspended: true }),
    ...(asked && { asked }),
    ...(value('refused') === 'true' && { isRefused: true }),
    ...(barred && { barred }),
  }
}

/**
 * Returns the time at which a user was suspended or refused, in milliseconds since 1970; undefined if the user is
 * neither suspended nor refused.
 */
export const barredAt = ({ isSuspended, isRefused, barred }: PlatformUser): number | undefined =>
  isSuspended || isRefused ? Date.parse(barred ?? '') || 0 : undefined
