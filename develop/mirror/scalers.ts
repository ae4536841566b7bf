import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { unlessForbidden } from '../../environment/forbidden.ts'
import { UP_MANAGER, type UpRecord, valueAt } from '../../environment/record/up-record.ts'
import type { Session } from '../../project/session.ts'

const SCALED_OBJECT = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' } as const
/**
 * Annotation that makes KEDA keep a workload at a fixed number of Pods
 * (https://keda.sh/docs/latest/concepts/scaling-deployments/#pausing-autoscaling).
 */
const PAUSED = 'autoscaling.keda.sh/paused-replicas'

type Paused = NonNullable<UpRecord['paused']>

/** Returns the ScaledObjects of KEDA; empty if the user may not list them. */
export const allScalers = ({ cluster, namespace, signal }: Session): Promise<readonly KubeObject[]> =>
  unlessForbidden(cluster.list({ ...SCALED_OBJECT, namespace }, { signal }), [])

/** Returns the ScaledObjects that scale a workload, each with its annotation value from before `up`. */
export function scalersOf(all: readonly KubeObject[], live: KubeObject, earlier: UpRecord | undefined): Paused {
  return all
    .filter(one => scales(one, live))
    .map(({ metadata: { name, annotations } }) => {
      const known = earlier?.paused?.find(one => one.name === name)
      return { name, before: known ? known.before : (annotations?.[PAUSED] ?? null) }
    })
}

/** Returns the HorizontalPodAutoscalers; empty if the user may not list them. */
export const allAutoscalers = ({ cluster, namespace, signal }: Session): Promise<readonly KubeObject[]> =>
  unlessForbidden(
    cluster.list({ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', namespace }, { signal }),
    [],
  )

/**
 * Returns the names of the HorizontalPodAutoscalers that scale a workload. They need no pause: they stop scaling at
 * zero replicas, and resume afterwards.
 */
export const restingAutoscalers = (all: readonly KubeObject[], live: KubeObject): readonly string[] =>
  all.filter(one => scales(one, live)).map(({ metadata }) => metadata.name)

/** Pauses scalers; the record contains their earlier annotations. */
export const pause = (session: Session, paused: Paused): Promise<void> => annotate(session, paused, () => '0')

/** Restores the earlier annotations of scalers. */
export const resume = (session: Session, paused: Paused): Promise<void> =>
  annotate(session, paused, ({ before }) => before)

async function annotate(
  { cluster, namespace, signal }: Session,
  paused: Paused,
  value: (one: Paused[number]) => string | null,
): Promise<void> {
  for (const one of paused) {
    const patch = { metadata: { annotations: { [PAUSED]: value(one) } } }
    try {
      await cluster.patch({ ...SCALED_OBJECT, name: one.name, namespace }, patch, { manager: UP_MANAGER, signal })
    } catch (error) {
      // The scaler was deleted in the meantime; or the user may only read it, so it keeps scaling, which the watcher
      // reports.
      if (!(error instanceof ClusterError) || !['not-found', 'forbidden'].includes(error.failure)) throw error
    }
  }
}

function scales(scaler: KubeObject, { kind, metadata }: KubeObject): boolean {
  const target = (valueAt(scaler, ['spec', 'scaleTargetRef']) ?? {}) as {
    readonly kind?: string
    readonly name?: string
  } // a scaler's
  return target.name === metadata.name && (target.kind ?? 'Deployment') === kind
}
