import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { kindsOf } from '../../constructs/kinds.ts'
import { isEnding } from '../../environment/apply/removal.ts'
import { environmentSelector } from '../../environment/labels.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import { leadsOf } from '../../environment/plan/part.ts'
import { isDependant } from '../../environment/status/owners.ts'
import type { LoadInput } from '../../project/input.ts'
import { findEnvironment, type KnownEnvironment } from '../../project/known-environment.ts'
import { serviceWords } from '../../project/names/service-words.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { notDeployed } from './not-deployed.ts'

export interface EnvironmentInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
}

/** Workloads of an environment, and the selection that a command works on. */
export interface FoundWorkloads {
  readonly known: KnownEnvironment
  readonly all: readonly KubeObject[]
  /** Workloads of the named services; all workloads if none are named. */
  readonly chosen: readonly KubeObject[]
  /** Jobs that another workload owns: those that a CronJob or `devctl run` has started. */
  readonly runs: readonly KubeObject[]
  /** Runs that are named, for commands that accept runs. */
  readonly namedRuns: readonly KubeObject[]
  /**
   * Maps each named service to the service whose Pods it runs in, often the named service itself. All names are those
   * in the cluster.
   */
  readonly leads: ReadonlyMap<string, string>
}

/**
 * Returns the workloads of an environment's services. With `takesRuns`, the words may also name runs. Throws a
 * UserError if nothing is deployed, and for a named service that does not exist or is not deployed.
 */
export async function findWorkloads(
  world: OperationContext,
  input: EnvironmentInput,
  words: readonly string[],
  project: OpenProject,
  { takesRuns = false } = {},
): Promise<FoundWorkloads> {
  const { session } = world
  const { cluster, namespace, signal } = session
  const known = await findEnvironment(world, input, project)
  const labels = environmentSelector(known.name)
  const list = (apiVersion: string, kind: string) => cluster.list({ apiVersion, kind, namespace, labels }, { signal })
  const [services, ...lists] = await Promise.all([
    list('v1', 'Service'),
    ...kindsOf('workload').map(({ apiVersion, kind }) => list(apiVersion, kind)),
  ])
  const objects = lists.flat().filter(one => !isEnding(one))
  const all = objects.filter(one => serviceOf(one) !== undefined && !isDependant(one))
  // Without its files, the services of an environment that does not exist are not known, either.
  if (input.name !== undefined && all.length === 0) throw await notDeployed(session, known.name)
  const runs = objects.filter(one => one.kind === 'Job' && isDependant(one))
  const namedRuns = takesRuns ? runs.filter(({ metadata }) => words.includes(metadata.name)) : []
  const others = words.filter(word => namedRuns.every(({ metadata }) => metadata.name !== word))
  const toLabels = await serviceWords(known)
  const named = toLabels(others, [...all, ...services])
  if (all.length === 0) throw await notDeployed(session, known.name)
  const leads = leadsAmong(named, services)
  const chosen = words.length === 0 ? all : workloadsOf(leads, all)
  return { known, all, chosen, runs, namedRuns, leads }
}

/**
 * Maps each given service to the service whose Pods it runs in, often the given service itself, according to the
 * Service objects of the environment.
 */
export function leadsAmong(labels: ReadonlySet<string>, services: readonly KubeObject[]): ReadonlyMap<string, string> {
  const pods = leadsOf(services)
  return new Map([...labels].map(label => [label, pods.get(label) ?? label]))
}

/**
 * Returns the workloads that run the services in `leads`, which `leadsAmong` has returned. Throws a UserError for
 * services without a workload.
 */
export function workloadsOf(
  leads: ReadonlyMap<string, string>,
  workloads: readonly KubeObject[],
): readonly KubeObject[] {
  const wanted = new Set(leads.values())
  const missing = [...leads].filter(([, lead]) => !workloads.some(one => serviceOf(one) === lead))
  if (missing.length > 0) {
    const names = missing.map(([label]) => label)
    const [are, them] = names.length === 1 ? ['is', 'it'] : ['are', 'them']
    throw new UserError(`${names.map(one => `\`${one}\``).join(', ')} ${are} not deployed`, {
      hint: `\`devctl deploy ${names.join(' ')}\` deploys ${them}`,
    })
  }
  return workloads.filter(one => wanted.has(serviceOf(one)!))
}

/**
 * Returns the names of the services that workloads belong to, sorted and without duplicates. A job with several
 * schedules has several CronJobs.
 */
export const servicesOf = (workloads: readonly KubeObject[]): readonly string[] =>
  [...new Set(workloads.map(one => serviceOf(one)!))].sort()
