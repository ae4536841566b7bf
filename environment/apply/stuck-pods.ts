import type { CallOptions, Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { podProblems } from '../status/problems.ts'
import { deleteObject } from './removal.ts'
import type { Step } from './steps.ts'

/**
 * Deletes the broken Pods of a StatefulSet whose template has just changed. Its controller would wait forever for the
 * old Pods to become ready before it creates new ones
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback). Returns the names of the
 * deleted Pods.
 */
export async function freeStuckPods(
  cluster: Cluster,
  step: Step,
  now: number,
  options: CallOptions,
): Promise<readonly string[]> {
  if (step.action !== 'update' || step.object.kind !== 'StatefulSet') return []
  if (!step.differences.some(({ keys }) => keys[0] === 'spec' && keys[1] === 'template')) return []
  const { namespace } = step.live.metadata
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace, labels: selectorOf(step.live) }, options)
  const broken = pods.filter(pod => isOf(pod, step.live) && podProblems(pod, [], now).length > 0)
  await Promise.all(broken.map(pod => deleteObject(cluster, pod, 'Background', options)))
  return broken.map(({ metadata }) => metadata.name)
}

const isOf = ({ metadata }: KubeObject, { metadata: { uid } }: KubeObject): boolean =>
  metadata.ownerReferences?.some(owner => owner.uid === uid) ?? false

function selectorOf({ spec }: KubeObject): string {
  const { selector } = spec as { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } } // a StatefulSet's spec
  return Object.entries(selector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
}
