import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { ALIAS_PREFIX } from '../../compiler/plan/network/alias-label.ts'
import { templateOf } from '../../constructs/manifest.ts'
import { escapeDollars } from '../../constructs/pod/escape-dollars.ts'
import { withoutOnce } from '../../constructs/pod/once.ts'
import { SERVICE_LABEL } from '../../environment/labels.ts'

/** Settings of one run, which override the settings of the workload. Arguments and values of variables are literal. */
export interface OnceSettings {
  /** Name of the Job. */
  readonly name: string
  /** Arguments that replace `command` of the file; if empty, `command` of the file is used. */
  readonly command: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** True to start without waiting for dependencies. */
  readonly noDeps: boolean
  /** Input of the container: a terminal, or a stream. If absent, the container has no input. */
  readonly input?: 'terminal' | 'stream' | undefined
  /** True if the cluster deletes the run as soon as it has ended. */
  readonly isRemoved?: boolean | undefined
}

type Labels = Readonly<Record<string, string>>
type Fields = Readonly<Record<string, unknown>>
interface Container extends Fields {
  readonly name: string
  readonly command?: readonly string[]
  readonly env?: readonly { readonly name: string }[]
}
interface Template {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels }
  readonly spec?: Fields & {
    readonly containers?: readonly Container[]
    readonly initContainers?: readonly Container[]
  }
}

/**
 * Time in seconds after which the finished run of a service is deleted. Runs of a CronJob have no such time, because
 * the CronJob limits their number.
 */
const KEPT = 86_400

/** Fields of a service's container that its run does not take over, such as those for serving requests. */
const OF_SERVERS = [
  'ports',
  'startupProbe',
  'readinessProbe',
  'livenessProbe',
  'stdin',
  'stdinOnce',
  'tty',
  'restartPolicy',
]

/**
 * Returns the Job that runs the container of a service in a live workload once, and the name of the container. The
 * workload owns the Job, so deleting the workload also deletes the Job.
 */
export function toRunJob(
  workload: KubeObject,
  service: string,
  settings: OnceSettings,
): { job: KubeObject; container: string } {
  const template = templateOf<Template>(workload) ?? {} // every workload has one
  const { containers = [], initContainers = [], ...pod } = template.spec ?? {}
  const container = [...containers, ...initContainers].find(({ name }) => name === service) ?? containers[0]!
  const { apiVersion, kind, metadata } = workload
  const isScheduled = kind === 'CronJob'
  const labels = labelsOf(template.metadata?.labels ?? {}, isScheduled)
  const waits = initContainers.filter(
    one => one !== container && !(settings.noDeps && one.name.startsWith('wait-for-')),
  )
  const job: KubeObject = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: settings.name,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels,
      ...(isScheduled && { annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' } }),
      ownerReferences: [
        { apiVersion, kind, name: metadata.name, uid: metadata.uid!, ...(isScheduled && { controller: true }) },
      ],
    },
    spec: {
      backoffLimit: 0,
      ...(settings.isRemoved ? { ttlSecondsAfterFinished: 0 } : !isScheduled && { ttlSecondsAfterFinished: KEPT }),
      template: {
        metadata: { ...template.metadata, labels },
        spec: {
          ...pod,
          restartPolicy: 'Never',
          ...(waits.length > 0 && { initContainers: waits }),
          containers: [withSettings(container, settings)],
        },
      },
    },
  }
  return { job, container: container.name }
}

/**
 * Returns the labels without those by which Services and workloads select the Pods of the service: as with `docker
 * compose run`, no host name leads to a run. The Jobs of a CronJob keep all labels.
 */
function labelsOf(labels: Labels, isScheduled: boolean): Labels {
  if (isScheduled) return labels
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isSelecting(key)))
}

const isSelecting = (label: string): boolean =>
  label === SERVICE_LABEL || label === 'pod-template-hash' || label.startsWith(ALIAS_PREFIX)

function withSettings(container: Container, { command, variables, input }: OnceSettings): Container {
  const program = container.command && withoutOnce(container.command)
  const own = Object.fromEntries(Object.entries(container).filter(([field]) => !OF_SERVERS.includes(field)))
  const env = [
    ...(container.env ?? []).filter(({ name }) => !Object.hasOwn(variables, name)),
    ...Object.entries(variables).map(([name, value]) => ({ name, value: escapeDollars(value) })),
  ]
  return {
    ...own,
    name: container.name,
    env,
    ...(program && { command: program.length > 0 ? program : undefined }),
    ...(command.length > 0 && { args: command.map(escapeDollars) }),
    ...(input && { stdin: true, stdinOnce: true }),
    ...(input === 'terminal' && { tty: true }),
  }
}
