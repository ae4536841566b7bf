import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { parseQuantity } from '../../compiler/values/numbers/quantity.ts'
import { type EnvironmentInput, findWorkloads, servicesOf } from '../../containers/workloads/find-workloads.ts'
import { containerNames, runningPods } from '../../environment/status/service-pods.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext, Session } from '../../project/session.ts'

export interface UsageInput extends EnvironmentInput {
  /** Services to list. If absent or empty, all services. */
  readonly services?: readonly string[] | undefined
}

/** Amounts of CPU and memory. An amount that is not set or not known is absent. */
export interface Amounts {
  /** Number of cores. */
  readonly cpu?: number
  /** Number of bytes. */
  readonly memory?: number
}

/** Usage of a running container of a deployed service. */
export interface ContainerUsage {
  readonly service: string
  readonly pod: string
  readonly container: string
  /** Measured usage; empty if the metrics server has not measured the container yet. */
  readonly usage: Amounts
  readonly requests: Amounts
  readonly limits: Amounts
}

/**
 * Returns the usage of CPU and memory of the running containers of the deployed services, sorted by service and Pod.
 * Throws a UserError if the cluster has no metrics server.
 */
export async function resourceUsage(
  world: OperationContext,
  input: UsageInput,
  project: OpenProject,
): Promise<readonly ContainerUsage[]> {
  const { session } = world
  const { cluster, namespace, signal } = session
  const { known, chosen } = await findWorkloads(world, input, input.services ?? [], project)
  const leads = servicesOf(chosen)
  const [measured, ...lists] = await Promise.all([
    measuredUsage(session),
    ...leads.map(lead => runningPods(cluster, { environment: known.name, namespace, lead }, { signal })),
  ])
  return lists.flatMap((pods, at) =>
    pods.flatMap(pod =>
      containerNames(pod).map(container => ({
        service: leads[at]!,
        pod: pod.metadata.name,
        container,
        usage: measured.get(`${pod.metadata.name} ${container}`) ?? {},
        ...reservedBy(pod, container),
      })),
    ),
  )
}

const METRICS = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics' }

/** Returns the usage of the containers in the namespace, by Pod and container. */
async function measuredUsage({ cluster, namespace, signal }: Session): Promise<ReadonlyMap<string, Amounts>> {
  if (!(await cluster.resource(METRICS.apiVersion, METRICS.kind, { signal })))
    throw new UserError('the cluster has no metrics server, which measures the usage of CPU and memory', {
      notes: ['its API is `metrics.k8s.io`'],
      hint: 'have an administrator install one: https://github.com/kubernetes-sigs/metrics-server',
    })
  const pods = await cluster.list({ ...METRICS, namespace }, { signal })
  return new Map(
    pods.flatMap(({ metadata, containers }) =>
      ((containers ?? []) as readonly { readonly name: string; readonly usage?: Quantities }[]) // fields of PodMetrics
        .map(({ name, usage }) => [`${metadata.name} ${name}`, amountsOf(usage)] as const),
    ),
  )
}

type Quantities = Readonly<Record<string, string | number>>

/** Returns the requests and limits of a container. */
function reservedBy({ spec }: KubeObject, name: string): Pick<ContainerUsage, 'requests' | 'limits'> {
  const { containers = [], initContainers = [] } = (spec ?? {}) as {
    readonly containers?: readonly Reserving[]
    readonly initContainers?: readonly Reserving[]
  } // a Pod's spec
  const found = [...containers, ...initContainers].find(one => one.name === name)
  return { requests: amountsOf(found?.resources?.requests), limits: amountsOf(found?.resources?.limits) }
}

interface Reserving {
  readonly name: string
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities }
}

function amountsOf(quantities: Quantities = {}): Amounts {
  const cpu = amountOf(quantities['cpu'])
  const memory = amountOf(quantities['memory'])
  return { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) }
}

function amountOf(quantity: string | number | undefined): number | undefined {
  const parsed = quantity === undefined ? undefined : parseQuantity(String(quantity))
  return parsed?.ok ? Number(parsed.value.milli) / 1000 : undefined
}
