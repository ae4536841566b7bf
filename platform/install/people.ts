import { randomBytes } from 'node:crypto'
import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { RECORD_LABEL, MANAGER as USER_MANAGER, USERS_NAMESPACE, userAccount } from '../records/names.ts'
import { fromToken, newToken } from '../records/token.ts'
import { ROLE, toUser } from '../records/user.ts'
import { LOGIN } from '../rules/accounts/login-name.ts'
import { ownFingerprint } from './certificates/own-certificate.ts'
import type { InstallContext } from './install-context.ts'
import { requirePlatform } from './installed.ts'

/**
 * Returns a token for the first administrator, valid for one login within an hour; undefined if an administrator
 * already exists.
 */
export const setupToken = async (world: InstallContext): Promise<string | undefined> =>
  (await hasAdmin(world.cluster, world.signal)) ? undefined : link(world, 'setup', 'setup')

/** Login of a person without a provider. */
export interface Invitation {
  readonly url: string
  readonly token: string
  /** Fingerprint (SHA-256) of the platform's own certificate authority; undefined if it has none. */
  readonly fingerprint: string | undefined
  /** Certificate authorities of `--ca`, in PEM; undefined if none are installed. */
  readonly authorities: string | undefined
}

/**
 * Creates a token for a person without a provider, valid for one login with this name within an hour. Returns the token
 * together with the URL of the platform. Throws a UserError if the name is invalid or there is no platform.
 */
export async function invite(world: InstallContext, login: string): Promise<Invitation> {
  if (!new RegExp(LOGIN).test(login))
    throw new UsageError(`\`${login}\` is not a valid name for a login`, {
      hint: 'use letters, digits, `-`, `_` and `.`',
    })
  const { url, options, trusted: authorities } = await requirePlatform(world)
  const fingerprint = options.ownCa ? await ownFingerprint(world.cluster, world.signal) : undefined
  return { url, token: await link(world, 'invite', login), fingerprint, authorities }
}

/**
 * Gives a user the rights of an administrator. `who` is the id of a user who has logged in, or a name that only one
 * user has. Returns the user's name. Throws a UserError if there is no such user, or several have the name.
 */
export async function addAdmin(world: InstallContext, who: string): Promise<string> {
  await requirePlatform(world)
  const { cluster, signal } = world
  const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE, labels: `${RECORD_LABEL}=user` }
  const all = (await cluster.list(query, { signal })).flatMap(one => toUser(one) ?? [])
  const found = all.filter(one => one.id === who || one.login === who)
  const [user, ...others] = found
  if (!user)
    throw new UserError(`nobody has logged in to the platform as \`${who}\``, {
      hint:
        didYouMean(
          who,
          all.map(({ login }) => login),
        ) ?? 'an administrator is made after their first login',
    })
  if (others.length > 0)
    throw new UserError(`\`${who}\` is the name of ${found.length} people`, {
      notes: found.map(({ id, issuer, email }) => `\`${id}\`, of ${issuer}${email ? `, ${email}` : ''}`),
      hint: 'use the id of one of them',
    })
  // Patches only the role, because a login or a suspension may be written at the same time.
  const role = { metadata: { annotations: { [ROLE]: 'admin' } } }
  const ref = { apiVersion: 'v1', kind: 'ServiceAccount', name: userAccount(user.id), namespace: USERS_NAMESPACE }
  await cluster.patch(ref, role, { manager: USER_MANAGER, signal })
  return user.login
}

async function hasAdmin(cluster: Cluster, signal: AbortSignal): Promise<boolean> {
  const query = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: USERS_NAMESPACE, labels: `${RECORD_LABEL}=user` }
  return (await cluster.list(query, { signal })).some(one => toUser(one)?.role === 'admin')
}

async function link(
  { cluster, signal, now }: InstallContext,
  kind: 'setup' | 'invite',
  label: string,
): Promise<string> {
  const { text, record } = newToken({ kind, label }, { now, random: randomBytes })
  await cluster.create(fromToken(record), { signal })
  return text
}
