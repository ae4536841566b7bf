import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { PLATFORM_ROLES, type PlatformRole } from '../rules/accounts/roles.ts'
import { isUserId } from '../rules/names.ts'
import { MANAGED_LABEL, RECORD_LABEL, USERS_NAMESPACE, userAccount } from './names.ts'

/** A person, as a ServiceAccount of `devctl-users`. Issuer and subject identify the person; the rest is for display. */
export interface PlatformUser {
  readonly id: string
  readonly issuer: string
  readonly subject: string
  /** The user name at the provider: `ann`. */
  readonly login: string
  readonly name?: string
  readonly email?: string
  readonly role: PlatformRole
  /** The personal namespace. */
  readonly home?: string
  /** RFC 3339. */
  readonly lastLogin: string
  /** True if an administrator has suspended the user. */
  readonly isSuspended?: boolean
  /** RFC 3339: when the provider last confirmed the account, apart from logins. */
  readonly asked?: string
  /** The provider no longer knew the account; the next login clears this. */
  readonly isRefused?: boolean
  /** RFC 3339: when they were last suspended or refused. */
  readonly barred?: string
}

const PREFIX = 'dev.platform/'
/** The annotation with a user's role on the platform. */
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
    // People work from outside of the cluster; no Pod uses this account.
    automountServiceAccountToken: false,
  }
}

/** Undefined if the object is no user: it is skipped. */
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

/** Returns when a user was suspended or refused, in milliseconds since 1970; undefined if they are neither. */
export const barredAt = ({ isSuspended, isRefused, barred }: PlatformUser): number | undefined =>
  isSuspended || isRefused ? Date.parse(barred ?? '') || 0 : undefined
