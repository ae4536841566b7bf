import { VARIABLE_NAME, type variableRoutes } from '../../api/variables.ts'
import { placeFor } from '../../rules/registry/registry-access.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { personOf } from '../http/answers.ts'
import type { Identified } from '../http/caller.ts'
import { PlatformError } from '../http/platform-error.ts'
import { namespaceOwner, secretOwner } from '../leader/secret-owners.ts'
import type { HandlersOf } from './handler.ts'

/** Pattern of variable names. Names that do not match it are not audited. */
const VARIABLE_KEY = new RegExp(VARIABLE_NAME)

export function variableHandlers(
  { settings: { registry }, registryKey }: Pick<ServerContext, 'settings' | 'registryKey'>,
  { users, namespaces, variables, runs }: Pick<Services, 'users' | 'namespaces' | 'variables' | 'runs'>,
): HandlersOf<typeof variableRoutes> {
  const change = async (by: Identified, scope: string, values: Readonly<Record<string, string | null>>) => {
    const owner = await secretOwner(by, scope, 'change', 'change these variables', namespaces)
    return variables.change(owner, by.user.id, values)
  }
  /**
   * Returns the id of the user whose variables the caller gets. Returns undefined for a destroy that is part of the
   * deletion of a namespace, if another user has requested the deletion.
   */
  const personOfVariables = async ({ user, token }: Identified): Promise<string | undefined> => {
    const run = token.kind === 'run' ? await runs.ofToken(token) : undefined
    return run?.deletion === undefined || run.deletionBy === user.id ? user.id : undefined
  }
  return {
    'GET /variables/:scope': async ({ params, by }) => {
      const owner = await secretOwner(by, params.scope, 'see', 'see these variables', namespaces)
      const [found, people] = await Promise.all([variables.list(owner), users.byId()])
      return { items: [...found].map(([name, { set, by: who }]) => ({ name, set, by: personOf(who, people) })) }
    },
    'PATCH /variables/:scope': async ({ params, body, by, note }) => {
      const names = Object.keys(body.variables).filter(name => VARIABLE_KEY.test(name))
      note({ what: { names: names.join(', ').slice(0, 1000) } })
      await change(by, params.scope, body.variables)
      return undefined
    },
    'PUT /variables/:scope/:name': async ({ params, body, by }) => {
      await change(by, params.scope, { [params.name]: body.value })
      return undefined
    },
    'DELETE /variables/:scope/:name': async ({ params, by }) => {
      if (!(await change(by, params.scope, { [params.name]: null })))
        throw new PlatformError(404, 'no-variable', `there is no variable \`${params.name}\``, {
          hint: '`devctl variables list` lists them',
        })
      return undefined
    },
    'GET /namespaces/:ns/variables/effective': async ({ params, by }) => {
      const namespace = await namespaceOwner(by, params.ns, 'deploy', 'deploy there', namespaces)
      // Code of a fork gets no user's variables: it could read what other users deploy to the same namespace.
      const trust = namespace.isUntrusted ? 'fork' : by.token.trust
      const person = await personOfVariables(by)
      // Deploys, destroys and development containers request the variables. A failure to record the time does not stop
      // them.
      const noted = namespaces.noteWork(namespace).catch(() => {})
      const [found] = await Promise.all([variables.effective(person, namespace, trust), noted])
      const images = registry === undefined ? undefined : `${registry}/${placeFor(namespace)}`
      return {
        ...found,
        ...(images !== undefined && { images: { name: images, hasLogin: registryKey !== undefined } }),
      }
    },
  }
}
