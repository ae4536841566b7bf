import type { Project } from '../../compiler/compose/project.ts'
import type { Endpoint } from '../../environment/endpoints/endpoints.ts'
import type { LoadInput } from '../../project/input.ts'
import { findEnvironment, type KnownEnvironment } from '../../project/known-environment.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { chooseTargetDefaults } from '../../project/target-defaults.ts'
import { sleeps } from '../ensure-namespace.ts'

export interface EndpointsInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
}

export interface EndpointsOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  readonly endpoints: readonly Endpoint[]
  /** Reason for having no endpoints. */
  readonly none?: NoEndpoints
}

/**
 * Reason why an environment has no endpoints:
 * - `not-deployed`: the environment is not deployed.
 * - `not-public`: the files publish no ports and have no `endpoints`.
 * - `not-http`: none of the published ports gets a public address, for example because they are not HTTP. Diagnostics
 *   report the reasons.
 * - `no-domain`: no domain is set, so a deploy creates no routes.
 * - `asleep`: the namespace sleeps.
 * - `no-routes`: the routes do not exist.
 * - `unknown`: the last deploy created no routes, and the files do not show why, because they have errors or are not on
 *   this machine.
 */
export type NoEndpoints = 'not-deployed' | 'not-public' | 'not-http' | 'no-domain' | 'asleep' | 'no-routes' | 'unknown'

/** Codes of warnings about published ports without a public address. */
const NOT_PUBLIC: ReadonlySet<string> = new Set([
  'ports/loopback',
  'ports/never-public',
  'ports/no-network',
  'ports/not-http',
  'ports/not-public',
])

/** Returns the public addresses of an environment, each with the service that answers there. */
export async function endpoints(
  world: OperationContext,
  input: EndpointsInput,
  project: OpenProject,
): Promise<EndpointsOutcome> {
  const { session } = world
  const { cluster, namespace, signal } = session
  const known = await findEnvironment(world, input, project)
  const { name: environment } = known
  const [{ findEndpoints }, { withAnswers }, { withClassProblems }, { askAddress }] = await Promise.all([
    import('../../environment/endpoints/endpoints.ts'),
    import('../../environment/endpoints/asked.ts'),
    import('../../environment/endpoints/ingress-classes.ts'),
    import('../../adapters/kubernetes/ask-address.ts'),
  ])
  const found = await findEndpoints(cluster, { environment, namespace }, [], { signal })
  const answered = await withAnswers(found, (url, entry) => askAddress(url, { entry, signal }))
  const where = { environment, namespace }
  const endpoints = await withClassProblems(cluster, where, answered, unansweredOf(found, answered), { signal })
  if (endpoints.length > 0) return { environment, namespace, endpoints }
  await requireNamespace(session)
  return { environment, namespace, endpoints, none: await reasonOf(world, known, project) }
}

/** Returns the addresses of endpoints that are ready according to the cluster, but did not respond successfully. */
const unansweredOf = (found: readonly Endpoint[], answered: readonly Endpoint[]): ReadonlySet<string> =>
  new Set(answered.flatMap(({ url, isReady }, index) => (found[index]?.isReady && !isReady ? [url] : [])))

/** Determines why an environment has no endpoints. Reports the warnings about ports that are not public. */
async function reasonOf(world: OperationContext, known: KnownEnvironment, opened: OpenProject): Promise<NoEndpoints> {
  const { session, workspace, on } = world
  const { cluster, namespace, signal, target } = session
  const [{ readRecord }, { readApplication }] = await Promise.all([
    import('../../environment/record/record.ts'),
    import('../../environment/record/deployed-application.ts'),
  ])
  const record = await readRecord(cluster, known.name, namespace, { signal })
  if (!record) return 'not-deployed'
  const { plan, project, diagnostics } = known
  const deployed = readApplication(record.application)?.services.some(one => one.endpoints.length > 0)
  if (!deployed) {
    if (!plan) return 'unknown'
    if (plan.routes.length === 0) {
      const about = diagnostics.filter(({ code }) => NOT_PUBLIC.has(code))
      if (about.length > 0) on({ type: 'diagnostics', diagnostics: about })
      return about.length > 0 || publishes(project) ? 'not-http' : 'not-public'
    }
    // Hosts of the user's own do not need a domain.
    const needsDomain = plan.routes.every(({ isOwnHost }) => !isOwnHost)
    if (needsDomain && chooseTargetDefaults(workspace, {}, opened, target).domain === undefined) return 'no-domain'
  }
  return (await sleeps(session)) ? 'asleep' : 'no-routes'
}

const publishes = (project: Project | undefined): boolean =>
  [...(project?.services.values() ?? [])].some(({ ports }) => ports.some(({ published }) => published !== undefined))
