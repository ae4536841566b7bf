import type { KubeObject } from '../../cluster/cluster.ts'
import { type ApplyEvents, applyChanges, type DeployRun, recordBefore } from '../../environment/apply.ts'
import { type Changes, planChanges } from '../../environment/changes.ts'
import { type Choices, NO_CHOICES } from '../../environment/choices.ts'
import type { Clock } from '../../environment/clock.ts'
import type { Holder } from '../../environment/lease.ts'
import { readRecord, type Source } from '../../environment/record.ts'
import { Tracker } from '../../environment/tracker.ts'
import type { Wanted, WantedWorkload } from '../../environment/wanted.ts'
import { MemoryCluster } from '../memory-cluster/memory-cluster.ts'

export const NAMESPACE = 'ns'
export const ENVIRONMENT = 'shop'
export const SOURCE: Source = { repository: 'example.com/shop', file: 'compose.yaml' }
export const never: AbortSignal = new AbortController().signal

export const newCluster = () => new MemoryCluster({ namespace: NAMESPACE })

/** A clock that a test moves. */
export class FakeClock implements Clock {
  #now = Date.parse('2026-01-01T00:00:00Z')
  readonly #timers = new Set<{ readonly milliseconds: number; due: number; readonly run: () => void }>()

  now(): number {
    return this.#now
  }

  every(milliseconds: number, run: () => void): () => void {
    const timer = { milliseconds, due: this.#now + milliseconds, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Lets milliseconds pass, and what is due happen. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    for (;;) {
      const next = [...this.#timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0]
      if (!next) break
      this.#now = Math.max(this.#now, next.due)
      next.due += next.milliseconds
      next.run()
      await settle()
    }
    this.#now = end
    await settle()
  }
}

/** Lets everything happen that only waits for its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

export const holder = (name = 'ann@laptop (1)', gone: readonly string[] = []): Holder => ({
  name,
  isGone: other => gone.includes(other),
})

/** An object as deploy wants it. */
export function object(kind: string, name: string, fields: object = {}, service?: string): KubeObject {
  const apiVersion = { Deployment: 'apps/v1', StatefulSet: 'apps/v1', DaemonSet: 'apps/v1', Job: 'batch/v1' }[kind]
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
  dependencies: WantedWorkload['dependencies'] = [],
): WantedWorkload => ({
  object: object(kind, name, fields, name.replace(/-\d$/, '')),
  source: `compose.yaml#services.${name}`,
  service: name.replace(/-\d$/, ''),
  dependencies,
})

/** What a deploy wants. */
export const wanted = (
  before: readonly KubeObject[] = [],
  workloads: readonly WantedWorkload[] = [],
  after: readonly KubeObject[] = [],
): Wanted => ({
  environment: ENVIRONMENT,
  namespace: NAMESPACE,
  before: before.map(object => ({ object, source: `compose.yaml#configs.${object.metadata.name}` })),
  workloads,
  after: after.map(object => ({ object, source: 'compose.yaml#services.web' })),
})

export async function plan(
  cluster: MemoryCluster,
  what: Wanted,
  choices: Partial<Choices> = {},
  source = SOURCE,
): Promise<Changes> {
  const recorded = await readRecord(cluster, ENVIRONMENT, NAMESPACE, {})
  return planChanges(cluster, what, recorded, source, { ...NO_CHOICES, ...choices }, {})
}

/** Plans and applies; tells what was done. `wait` waits for all workloads. */
export async function deploy(
  cluster: MemoryCluster,
  what: Wanted,
  { wait = false, ...choices }: Partial<Choices> & { readonly wait?: boolean } = {},
  clock = new FakeClock(),
): Promise<readonly string[]> {
  const told: string[] = []
  const events: ApplyEvents = {
    done: (action, name) => told.push(`${action} ${name}`),
    waiting: (service, needs) => told.push(`${service} waits for ${needs.join(', ')}`),
    status: () => {},
  }
  const tracker = new Tracker(cluster, ENVIRONMENT, NAMESPACE, clock)
  const run: DeployRun = { cluster, tracker, events, clock, by: 'ann', signal: never }
  try {
    const changes = await plan(cluster, what, choices)
    await applyChanges(run, what, changes, await recordBefore(run, what, changes), wait)
  } finally {
    tracker.stop()
  }
  return told
}

/** What the plan does with each object: `update configmap/a`. */
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
