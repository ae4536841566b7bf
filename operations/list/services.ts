import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { environmentSelector } from '../../environment/labels.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import { inSleep, type ServiceOverview } from '../../environment/status/service-status.ts'
import type { LoadInput } from '../../project/input.ts'
import { findEnvironment, type KnownEnvironment } from '../../project/known-environment.ts'
import { labelsOf } from '../../project/names/named-services.ts'
import { serviceWords } from '../../project/names/service-words.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { sleeps } from '../ensure-namespace.ts'

export interface ServicesInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
  /** Services to list. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
}

export interface ServicesOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /** Rows sorted by service. */
  readonly services: readonly ServiceRow[]
  /** Names of the environment's jobs in the cluster. Absent if a service is deployed, or if there are no jobs. */
  readonly onlyJobs?: readonly string[]
  /** Time of the query, in milliseconds since 1970. */
  readonly now: number
}

/**
 * Returns the states of the services that `input` names, or of all services of the environment if it names none.
 * Services that are in the files but not in the cluster have the state `missing`. Throws a UserError for an unknown
 * name and for the name of a job.
 */
export async function services(
  world: OperationContext,
  input: ServicesInput,
  project: OpenProject,
): Promise<ServicesOutcome> {
  const { session } = world
  const { cluster, namespace, signal, clock } = session
  const known = await findEnvironment(world, input, project)
  const { overviewOf } = await import('../../environment/status/overview.ts')
  const now = clock.now()
  const overview = await overviewOf(cluster, { environment: known.name, namespace, now }, { signal })
  if (overview.services.length === 0 && !overview.record) await requireNamespace(session)
  const isAsleep = overview.services.some(({ state }) => state === 'stopped') && (await sleeps(session))
  const found = isAsleep ? overview.services.map(inSleep) : overview.services
  const words = input.services ?? []
  const live = words.length > 0 || found.length === 0 ? await liveJobs(session, known.name) : []
  const planned = known.plan?.workloads.flatMap(one => (one.kind === 'Job' && one.cronJobs ? one.service : [])) ?? []
  const rows = await rowsOf(found, words, { known, jobs: new Set([...planned, ...live]) })
  const onlyJobs = found.length === 0 && live.length > 0 ? { onlyJobs: live } : {}
  return { environment: known.name, namespace, services: rows, ...onlyJobs, now }
}

/** Service in the files that is not in the cluster. */
export interface MissingService {
  readonly service: string
  readonly state: 'missing'
}
export type ServiceRow = ServiceOverview | MissingService

async function rowsOf(
  services: readonly ServiceOverview[],
  words: readonly string[],
  { known, jobs }: { readonly known: KnownEnvironment; readonly jobs: ReadonlySet<string> },
): Promise<readonly ServiceRow[]> {
  const there = new Set(services.map(({ service }) => service))
  const planned = known.project && known.plan ? [...(await labelsOf(known.project)).values()] : []
  const missing = planned.filter(service => !there.has(service) && !jobs.has(service))
  const rows: readonly ServiceRow[] = [
    ...services,
    ...missing.map((service): MissingService => ({ service, state: 'missing' })),
  ].sort((a, b) => (a.service < b.service ? -1 : 1))
  if (words.length === 0) return rows
  const toLabels = await serviceWords(known)
  const wanted = toLabels(words, [...rows.map(({ service }) => service), ...jobs].map(labelled))
  const job = [...wanted].find(label => jobs.has(label))
  if (job !== undefined)
    throw new UserError(`\`${job}\` is a job, and \`ps\` lists services`, {
      hint: `\`devctl jobs ${job}\` lists its runs, and \`devctl run ${job}\` starts one`,
    })
  return rows.filter(({ service }) => wanted.has(service))
}

/** Returns the jobs of an environment in the cluster. */
async function liveJobs(
  { cluster, namespace, signal }: OperationContext['session'],
  environment: string,
): Promise<readonly string[]> {
  const query = { apiVersion: 'batch/v1', kind: 'CronJob', namespace, labels: environmentSelector(environment) }
  const found = await unlessForbidden(cluster.list(query, { signal }), [])
  return [...new Set(found.flatMap(one => serviceOf(one) ?? []))]
}

/** Returns an object that has only the fields that identify the service. */
const labelled = (service: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: service, labels: { 'dev.platform/service': service } },
})
