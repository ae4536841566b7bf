import type { Granted, Person } from '../../api/common.ts'
import type { Me, TokenInfo } from '../../api/me.ts'
import type { Namespace, NamespaceDetails } from '../../api/namespaces.ts'
import type { Run } from '../../api/runs.ts'
import type { ShownUser } from '../../api/users.ts'
import type { RunRecord } from '../../records/run.ts'
import type { IssuedToken, TokenRecord } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { NamespaceRole } from '../../rules/accounts/roles.ts'
import type { SharedNamespace } from '../namespaces/shared-namespace.ts'

export const toPerson = ({ id, login, name }: PlatformUser): Person => ({ id, login, ...(name && { name }) })

export const toGranted = ({ text, record }: IssuedToken, { login }: PlatformUser): Granted => ({
  token: text,
  expires: record.expires,
  login,
})

export const toMe = (user: PlatformUser): Me => ({
  ...toPerson(user),
  role: user.role,
  ...(user.email && { email: user.email }),
  ...(user.home && { home: user.home }),
})

export const toShownUser = (user: PlatformUser): ShownUser => ({
  ...toMe(user),
  lastLogin: user.lastLogin,
  ...(user.isSuspended && { isSuspended: true }),
})

export const toTokenInfo = (
  { hash: _, user: __, namespaces: ___, trust: ____, ...rest }: TokenRecord,
  now: string,
): TokenInfo => ({
  ...rest,
  ...(rest.id === now && { isThis: true }),
})

export function toNamespaceAnswer(
  { namespace }: SharedNamespace,
  people: ReadonlyMap<string, PlatformUser>,
  role: NamespaceRole | undefined,
): Namespace {
  const { name, kind, status, owner, created, lastActive, isPersistent, deletion, waits } = namespace
  return {
    name,
    kind,
    status,
    owner: personOf(owner, people),
    ...(role && { role }),
    created,
    lastActive,
    ...(isPersistent && { isPersistent }),
    ...(deletion?.problem !== undefined && { deleteProblem: deletion.problem }),
    ...(waits !== undefined && { deleteWaits: waits }),
  }
}

export const toDetails = (
  shared: SharedNamespace,
  people: ReadonlyMap<string, PlatformUser>,
  role: NamespaceRole | undefined,
): NamespaceDetails => ({
  ...toNamespaceAnswer(shared, people, role),
  members: shared.members.map(one => ({ user: personOf(one.user, people), role: one.role })),
})

export const toRunAnswer = (run: RunRecord, people: ReadonlyMap<string, PlatformUser>): Run => {
  const { id, namespace, environment, action, state, repository, branch, file, volumes, variables, moreVariables } = run
  const { created, started, ended, found, stop } = run
  const reason = found.reason ?? stop?.reason
  return {
    id,
    namespace,
    environment,
    action,
    state,
    user: personOf(run.user, people),
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
    ...(found.commit !== undefined && { commit: found.commit }),
    ...(file !== undefined && { file }),
    ...(volumes && { volumes }),
    ...(run.deletion !== undefined && { isDeletion: true }),
    ...(run.trust && { trust: run.trust }),
    ...(variables && { variables: [...variables] }),
    ...(moreVariables !== undefined && { moreVariables }),
    created,
    ...(started !== undefined && { started }),
    ...(ended !== undefined && { ended }),
    ...(reason !== undefined && { reason }),
  }
}

/** Returns a user as shown in responses. Users whose record was deleted are shown by their id. */
export function personOf(id: string, people: ReadonlyMap<string, PlatformUser>): Person {
  const user = people.get(id)
  return user ? toPerson(user) : { id, login: id }
}
