import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Target } from '../../project/contexts/target.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { ReplyOf } from '../api/routes.ts'
import { PlatformRefusal } from '../client/client.ts'
import { connectPlatform } from './connect-platform.ts'

/** Variables that a platform provides for deploys to a namespace, and the repository for the namespace's images. */
export type Effective = ReplyOf<'GET /namespaces/:ns/variables/effective'>

/**
 * Fetches the variables and the image repository from the platform. Throws a UserError; if the platform rejected the
 * request, the error's cause is the PlatformRefusal.
 */
export async function fetchEffective(
  { context, namespace, stored }: Pick<Target, 'context' | 'namespace' | 'stored'>,
  { env }: Pick<Workspace, 'env'>,
  signal: AbortSignal,
): Promise<Effective> {
  const platform = connectPlatform(context, stored.token, env)
  try {
    return await platform.call('GET /namespaces/:ns/variables/effective', { params: { ns: namespace } }, signal)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    // A platform that predates variables has none.
    if (error.cause instanceof PlatformRefusal && error.cause.body.code === 'platform/no-route')
      return { variables: [], unreadable: [] }
    const { message, hint, notes, cause } = error
    const why = `it was asked for the variables of namespace \`${namespace}\``
    throw new UserError(message, { ...(hint !== undefined && { hint }), notes: [...notes, why], cause })
  }
}
