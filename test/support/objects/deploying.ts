import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { applyChanges, recordBefore } from '../../../environment/apply/apply.ts'
import type { ApplyEvents, DeployRun } from '../../../environment/apply/deploy-run.ts'
import type { Holder } from '../../../environment/apply/held-lease.ts'
import { type Changes, planChanges } from '../../../environment/plan/changes.ts'
import { type Choices, NO_CHOICES } from '../../../environment/plan/choices.ts'
import type { DesiredState, DesiredWorkload } from '../../../environment/plan/desired-state.ts'
import { readRecord, type Source } from '../../../environment/record/record.ts'
import { Tracker } from '../../../environment/rollout/tracker.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'
import { FakeClock } from './fake-clock.ts'

export const NAMESPACE = 'ns'
export const ENVIRONMENT = 'shop'
export const SOURCE: Source = { repository: 'example.com/shop', file: 'compose.yaml' }
export const never: AbortSignal = new AbortController().signal

export const newCluster = () => new MemoryCluster({ namespace: NAMESPACE })

export const holder = (name = 'ann@laptop (1)', gone: readonly string[] = []): Holder => ({
  name,
  isGone: other => gone.includes(other),
})

/** An object as deploy wants it. */
export function object(kind: string, name: string, fields: object = {}, service?: string): KubeObject {
  const apiVersion = {
    Deployment: 'apps/v1',
    StatefulSet: 'apps/v1',
    DaemonSet: 'apps/v1',
    Job: 'batch/v1',
    CronJob: 'batch/v1',
  }[kind]
  return {
    apiVersion: apiVersion ?? (kind === 'Ingress' ? 'networking.k8s.io/v1' : 'v1'),
    kind,
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { 'dev.platform/environment': ENVIRONMENT, ...(service && { 'dev.platform/service': service }) },
    },
    ...fields,
  }
}

export const workload = (
  kind: string,
  name: string,
  fields: object = { spec: { replicas: 1 } },
  dependencies: DesiredWorkload['dependencies'] = [],
): DesiredWorkload => ({
  object: object(kind, name, fields, name.replace(/-\d$/, '')),
  source: `compose.yaml#services.${name}`,
  service: name.replace(/-\d$/, ''),
  dependencies,
})

/** Returns the desired state of a deploy. */
export const wanted = (
  before: readonly KubeObject[] = [],
  workloads: readonly DesiredWorkload[] = [],
  after: readonly KubeObject[] = [],
): DesiredState => ({
  environment: ENVIRONMENT,
  namespace: NAMESPACE,
  before: before.map(object => ({ object, source: `compose.yaml#configs.${object.metadata.name}` })),
  workloads,
  after: after.map(object => ({ object, source: 'compose.yaml#services.web' })),
})

export async function plan(
  cluster: MemoryCluster,
  what: DesiredState,
  choices: Partial<Choices> = {},
  source = SOURCE,
): Promise<Changes> {
  const recorded = await readRecord(cluster, ENVIRONMENT, NAMESPACE, {})
  return planChanges(cluster, what, { recorded, source, choices: { ...NO_CHOICES, ...choices } }, {})
}

/** Plans and applies; tells what was done. `wait` waits for all workloads. */
export async function deploy(
  cluster: MemoryCluster,
  what: DesiredState,
  {
    wait = false,
    toleratesFailures = false,
    ...choices
  }: Partial<Choices> & { readonly wait?: boolean; readonly toleratesFailures?: boolean } = {},
  clock = new FakeClock(),
  events: Partial<ApplyEvents> = {},
  signal = never,
): Promise<readonly string[]> {
  const told: string[] = []
  const heard: ApplyEvents = {
    done: (action, name) => told.push(`${action} ${name}`),
    waiting: (service, needs) => told.push(`${service} waits for ${needs.join(', ')}`),
    status: () => {},
    applied: () => {},
    routed: () => {},
    watching: () => {},
    ...events,
  }
  const tracker = new Tracker(cluster, ENVIRONMENT, NAMESPACE, clock)
  const run: DeployRun = { cluster, tracker, events: heard, clock, by: 'ann', signal, toleratesFailures }
  try {
    const changes = await plan(cluster, what, choices)
    await applyChanges(run, what, changes, await recordBefore(run, what, changes), { wait })
  } finally {
    tracker.stop()
  }
  return told
}

/** Returns what the plan does with each object, as `update configmap/a`. */
export const actions = ({ steps, pruneFirst, prune, kept }: Changes): readonly string[] => {
  const named = (action: string, { kind, metadata }: KubeObject) => `${action} ${kind.toLowerCase()}/${metadata.name}`
  return [
    ...[...steps].map(([one, step]) => named(step.action, one.object)),
    ...pruneFirst.map(one => named('prune first', one)),
    ...prune.map(one => named('prune', one)),
    ...kept.map(one => named('keep', one)),
  ]
}

export const ref = (of: KubeObject) => ({
  apiVersion: of.apiVersion,
  kind: of.kind,
  name: of.metadata.name,
  namespace: NAMESPACE,
})
