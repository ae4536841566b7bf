import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { type EnvironmentInput, findWorkloads } from '../../containers/workloads/find-workloads.ts'
import { replicasOf } from '../../environment/apply/scaled.ts'
import { serviceOf } from '../../environment/plan/desired-state.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { applyScalings, autoscaledWorkloads } from './set-replicas.ts'

export interface ScaleInput extends EnvironmentInput {
  /** Number of replicas by service; the names of the services are those in the files. */
  readonly replicas: Readonly<Record<string, number>>
}

export interface ScaleOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /**
   * Services with the numbers of replicas before and after the command. The two numbers are equal if nothing had to
   * change.
   */
  readonly scaled: readonly { readonly service: string; readonly before: number; readonly after: number }[]
}

/**
 * Sets the number of replicas of services until the next deploy. Throws a UserError for Jobs, DaemonSets, autoscaled
 * services, and services in the Pods of others, before anything is changed.
 */
export async function scale(world: OperationContext, input: ScaleInput, project: OpenProject): Promise<ScaleOutcome> {
  const { session } = world
  const { replicas: numbers } = input
  const wanted = await Promise.all(
    Object.entries(numbers).map(async ([word, replicas]) => {
      const found = await findWorkloads(world, input, [word], project)
      const [[label = '', lead = '']] = [...found.leads] as [[string, string]] // of the one service that is named
      refuseMember(label, lead, `devctl scale ${lead}=${replicas}`)
      return { word, replicas, environment: found.known.name, workload: found.chosen[0]! }
    }),
  )
  const autoscaled = await autoscaledWorkloads(session)
  for (const { workload } of wanted) refuseScale(workload, autoscaled)
  const [{ environment } = { environment: '' }] = wanted
  const changed = wanted.filter(({ workload, replicas }) => replicasOf(workload) !== replicas)
  await applyScalings(world, environment, changed)
  return {
    environment,
    namespace: session.namespace,
    scaled: wanted.map(({ word, workload, replicas }) => ({
      service: word,
      before: replicasOf(workload),
      after: replicas,
    })),
  }
}

/**
 * Throws a UserError for a service that runs in the Pods of another service and therefore has no replicas of its own.
 */
export function refuseMember(label: string, lead: string, instead: string): void {
  if (label !== lead)
    throw new UserError(`\`${label}\` runs in the Pods of \`${lead}\``, { hint: `\`${instead}\` changes both` })
}

function refuseScale(workload: KubeObject, autoscaled: ReadonlySet<string>): void {
  const { kind, metadata } = workload
  const service = serviceOf(workload)!
  if (kind === 'Job')
    throw new UserError(`\`${service}\` is a Job, which runs to its end`, {
      hint: `set \`scale\` in the Compose file, and run it again with \`devctl deploy --rerun ${service}\``,
    })
  if (kind === 'DaemonSet')
    throw new UserError(`\`${service}\` is a DaemonSet, which has one Pod on each node`, {
      hint: 'remove `deploy.mode: global` from the Compose file, and set `scale`',
    })
  if (kind === 'CronJob')
    throw new UserError(`\`${service}\` is a CronJob, which has no replicas`, {
      hint: `\`devctl stop ${service}\` suspends it`,
    })
  if (autoscaled.has(`${kind}/${metadata.name}`))
    throw new UserError(`an autoscaler sets the replicas of \`${service}\``, {
      hint: 'change its limits in the Compose file, and deploy',
    })
}
