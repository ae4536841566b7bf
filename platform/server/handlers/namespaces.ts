import type { namespaceRoutes } from '../../api/namespaces.ts'
import type { PlatformUser } from '../../records/user.ts'
import type { Services } from '../create-services.ts'
import { toDetails, toNamespaceAnswer } from '../http/answers.ts'
import { onlyFor } from '../http/platform-error.ts'
import { roleIn } from '../namespaces/shared-namespace.ts'
import { type HandlersOf, wordsOf } from './handler.ts'

export function namespaceHandlers({
  users,
  namespaces,
  members,
  deletions,
}: Pick<Services, 'users' | 'namespaces' | 'members' | 'deletions'>): HandlersOf<typeof namespaceRoutes> {
  const details = async (user: PlatformUser, name: string) => {
    const shared = await namespaces.require(user, name, 'see', 'see this')
    return toDetails(shared, await users.byId(), roleIn(shared, user))
  }
  return {
    'GET /namespaces': async ({ by }) => {
      const [found, all] = await Promise.all([namespaces.visible(by.user), users.byId()])
      const items = found.map(one => toNamespaceAnswer(one, all, roleIn(one, by.user)))
      return { items: items.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },
    'POST /namespaces': async ({ body, by, note }) => {
      note({ what: { ns: body.name } })
      const made = await namespaces.create(by.user, body.name, 'namespace')
      return toNamespaceAnswer(made, new Map([[by.user.id, by.user]]), 'owner')
    },
    'GET /namespaces/:ns': async ({ params, by }) => details(by.user, params.ns),
    'GET /namespaces/:ns/limits': async ({ params, by }) => {
      await namespaces.require(by.user, params.ns, 'see', 'see this')
      return { items: [...(await namespaces.limits(params.ns))] }
    },
    'PATCH /namespaces/:ns': async ({ params, body, by, note }) => {
      note({ what: wordsOf(body) })
      const shared = await namespaces.require(by.user, params.ns, 'share', 'change it')
      if (body.owner !== undefined) {
        if (by.user.role !== 'admin') throw onlyFor('transfer a namespace', 'an administrator')
        await members.transfer(shared, await users.known(body.owner))
      }
      if (body.isPersistent !== undefined) await namespaces.setPersistent(shared, body.isPersistent)
      return details(by.user, params.ns)
    },
    'DELETE /namespaces/:ns': async ({ params, query, by }) => {
      const shared = await namespaces.require(by.user, params.ns, 'delete', 'delete it')
      await deletions.begin(shared, { by: by.user.id, isForced: query.force === 'true' })
      return undefined
    },
    'PUT /namespaces/:ns/members/:user': async ({ params, body, by, note }) => {
      note({ what: wordsOf(body) })
      const shared = await namespaces.require(by.user, params.ns, 'share', 'share it')
      await members.share(shared, await users.known(params.user), body.role)
      return details(by.user, params.ns)
    },
    'DELETE /namespaces/:ns/members/:user': async ({ params, by }) => {
      await members.unshare(await namespaces.require(by.user, params.ns, 'share', 'share it'), params.user)
      return undefined
    },
  }
}
