import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import type { SearchNames, searchRoutes } from '../../api/search.ts'
import type { Services } from '../create-services.ts'
import { personOf } from '../http/answers.ts'
import type { Identified } from '../http/caller.ts'
import { eachNamespace } from '../namespaces/each-namespace.ts'
import { roleIn } from '../namespaces/shared-namespace.ts'
import type { HandlersOf } from './handler.ts'

/** Maximum number of namespaces whose environments are read; the most recently used ones are read first. */
const MOST = 500
/** Timeout for reading all namespaces, in milliseconds. */
const DEADLINE = 20_000

export function searchHandlers({
  namespaces,
  users,
  live,
}: Pick<Services, 'namespaces' | 'users' | 'live'>): HandlersOf<typeof searchRoutes> {
  /** Reads in progress, by the id of a token. Concurrent requests with the same token share one read. */
  const running = new Map<string, Promise<SearchNames>>()

  const names = async (by: Identified): Promise<SearchNames> => {
    const [visible, people] = await Promise.all([namespaces.visible(by.user), users.byId()])
    const inside = visible
      // An administrator who is not a member does not see the environments of a namespace.
      .filter(one => roleIn(one, by.user))
      .sort((a, b) => (a.namespace.lastActive < b.namespace.lastActive ? 1 : -1))
      .map(({ namespace }) => namespace.name)
    const read = inside.slice(0, MOST)
    const late = withTimeLimit(DEADLINE)
    const { found, failed } = await eachNamespace(read, name => live.environmentNames(by, name, late))
    const unread = inside.length - read.length + failed
    return {
      items: visible
        .map(({ namespace: { name }, members }) => ({
          namespace: name,
          environments: (found.get(name) ?? []).map(one => ({ name: one.name, services: [...one.services] })),
          members: members.map(({ user, role }) => ({ user: personOf(user, people), role })),
        }))
        .sort((a, b) => (a.namespace < b.namespace ? -1 : 1)),
      ...(unread > 0 && { unread }),
    }
  }

  return {
    'GET /search': async ({ by }) => {
      const { id } = by.token
      const asked = running.get(id) ?? names(by).finally(() => running.delete(id))
      running.set(id, asked)
      return asked
    },
  }
}
