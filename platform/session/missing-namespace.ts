import { didYouMean } from '../../compiler/diagnostics/suggest.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isPlatform } from '../../project/contexts/store.ts'
import type { OperationContext } from '../../project/session.ts'
import { PlatformRefusal } from '../client/client.ts'
import { connectPlatform, unlessNotThere } from './connect-platform.ts'

/** A namespace that a platform does not show to the user: it does not exist, or the user is not a member of it. */
export interface MissingNamespace {
  /** Suggestion in case the name was misspelled, such as ``did you mean `shop`?`` */
  readonly similar?: string
}

/**
 * Asks the platform of the context if the user may see the namespace. The API server cannot tell: it answers 403 for
 * every namespace in which the user has no role, even if the namespace does not exist. Returns undefined if the
 * namespace exists, if the context is not a platform, or if the platform does not answer the question, as for CI jobs.
 */
export async function missingOnPlatform({
  session: { namespace, target, signal },
  workspace,
}: Pick<OperationContext, 'session' | 'workspace'>): Promise<MissingNamespace | undefined> {
  if (!isPlatform(target.context)) return undefined
  const platform = connectPlatform(target.context, target.stored.token, workspace.env)
  try {
    const found = await unlessNotThere(platform.call('GET /namespaces/:ns', { params: { ns: namespace } }, signal))
    if (found) return undefined
    const { items } = await platform.call('GET /namespaces', {}, signal)
    const similar = didYouMean(
      namespace,
      items.map(({ name }) => name),
    )
    return similar === undefined ? {} : { similar }
  } catch (error) {
    if (error instanceof UserError && error.cause instanceof PlatformRefusal) return undefined
    throw error
  }
}
