import { requireNamespace, sleeps } from '../namespaces.ts'
import type { Endpoint } from '../objects/endpoints/endpoints.ts'
import type { Loading } from '../project/input.ts'
import { findEnvironment } from '../project/known-environment.ts'
import type { OpenProject } from '../project/opened-project.ts'
import type { World } from '../session.ts'

export interface EndpointsInput extends Loading {
  /** The environment; absent: the one that the files have. */
  readonly name?: string | undefined
}

export interface EndpointsOutcome {
  /** A DNS label. */
  readonly environment: string
  readonly namespace: string
  readonly endpoints: readonly Endpoint[]
  /**
   * Why there are none: it is not deployed, it sleeps, its routes are not there, or nothing of it is public.
   */
  readonly none?: 'not-deployed' | 'asleep' | 'no-routes' | 'not-public'
}

/** The public addresses of an environment, each with what answers there. */
export async function endpoints(world: World, input: EndpointsInput, project: OpenProject): Promise<EndpointsOutcome> {
  const { session } = world
  const { cluster, namespace, signal } = session
  const { name: environment, plan } = await findEnvironment(world, input, project)
  const [{ findEndpoints }, { withAnswers }, { askAddress }] = await Promise.all([
    import('../objects/endpoints/endpoints.ts'),
    import('../objects/endpoints/asked.ts'),
    import('../../adapters/kubernetes/ask-address.ts'),
  ])
  const found = await findEndpoints(cluster, { environment, namespace }, [], { signal })
  const endpoints = await withAnswers(found, (url, entry) => askAddress(url, { entry, signal }))
  if (endpoints.length > 0) return { environment, namespace, endpoints }
  await requireNamespace(session)
  const { readRecord } = await import('../objects/record.ts')
  const isDeployed = (await readRecord(cluster, environment, namespace, { signal })) !== undefined
  const isPublic = plan !== undefined && plan.routes.length > 0
  const none = !isDeployed
    ? 'not-deployed'
    : !isPublic
      ? 'not-public'
      : (await sleeps(session))
        ? 'asleep'
        : 'no-routes'
  return { environment, namespace, endpoints, none }
}
