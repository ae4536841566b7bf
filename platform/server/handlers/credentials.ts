import type { credentialRoutes } from '../../api/credentials.ts'
import type { Services } from '../create-services.ts'
import { personOf } from '../http/answers.ts'
import { PlatformError } from '../http/platform-error.ts'
import { secretOwner } from '../leader/secret-owners.ts'
import { checkHost } from '../namespaces/credentials.ts'
import type { HandlersOf } from './handler.ts'

export const credentialHandlers = ({
  users,
  namespaces,
  credentials,
}: Pick<Services, 'users' | 'namespaces' | 'credentials'>): HandlersOf<typeof credentialRoutes> => ({
  'GET /credentials/:scope': async ({ params, by }) => {
    const owner = await secretOwner(by, params.scope, 'see', 'see these credentials', namespaces)
    const [found, people] = await Promise.all([credentials.list(owner), users.byId()])
    const items = [...found].map(([host, { note = '', set, by: who }]) => ({
      host,
      user: note,
      set,
      by: personOf(who, people),
    }))
    return { items }
  },
  'PUT /credentials/:scope/:host': async ({ params, body, by }) => {
    checkHost(params.host)
    const owner = await secretOwner(by, params.scope, 'change', 'change these credentials', namespaces)
    await credentials.set(owner, by.user.id, params.host, body)
    return undefined
  },
  'DELETE /credentials/:scope/:host': async ({ params, by }) => {
    checkHost(params.host)
    const owner = await secretOwner(by, params.scope, 'change', 'change these credentials', namespaces)
    if (!(await credentials.remove(owner, by.user.id, params.host)))
      throw new PlatformError(404, 'no-credential', `there is no credential for \`${params.host}\``)
    return undefined
  },
})
