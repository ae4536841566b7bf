import { createHmac, randomBytes } from 'node:crypto'
import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../cluster/cluster.ts'
import type { Plan, SecretPlan, WorkloadPlan } from '../compiler/plan/plan.ts'
import { MANAGER, ownLabels, SECRETS_ANNOTATION } from './labels.ts'
import { recordName } from './record.ts'

/**
 * Marks each Pod template that mounts secrets of the plan with an HMAC of their content: when a secret changes, so does the template, and its
 * Pods are made anew. Without the key nobody can try out values against the mark.
 */
export function markSecrets(plan: Plan, key: string): Plan {
  const byName = new Map(plan.secrets.map(secret => [secret.name, secret]))
  return { ...plan, workloads: plan.workloads.map(workload => marked(workload, byName, key)) }
}

function marked<W extends WorkloadPlan>(workload: W, secrets: ReadonlyMap<string, SecretPlan>, key: string): W {
  const { pod } = workload
  const mounted = pod.volumes.flatMap(volume => (volume.kind === 'secret' ? (secrets.get(volume.secret) ?? []) : []))
  if (mounted.length === 0) return workload
  const hmac = createHmac('sha256', key)
  for (const { name, data } of [...mounted].sort((a, b) => (a.name < b.name ? -1 : 1)))
    for (const file of Object.keys(data).sort()) hmac.update(JSON.stringify([name, file])).update(data[file]!)
  const mark = hmac.digest('hex').slice(0, 16)
  return { ...workload, pod: { ...pod, annotations: { ...pod.annotations, [SECRETS_ANNOTATION]: mark } } }
}

/** The environment's key; a new one, which is not in the cluster yet, when it has none. */
export async function readKey(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<{ readonly key: string; readonly isNew: boolean }> {
  const ref = { apiVersion: 'v1', kind: 'Secret', name: recordName(environment), namespace }
  const found = await cluster.get(ref, options)
  const data = found?.['data'] as Readonly<Record<string, string>> | undefined // a Secret's data are texts in base64
  const key = data?.['key'] && Buffer.from(data['key'], 'base64').toString()
  return key ? { key, isNew: false } : { key: randomBytes(32).toString('hex'), isNew: true }
}

/** Keeps a new key in the cluster, in a Secret: who may see ConfigMaps only must not be able to try out values. */
export async function writeKey(
  cluster: Cluster,
  environment: string,
  namespace: string,
  key: string,
  options: CallOptions,
): Promise<void> {
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: recordName(environment), namespace, labels: ownLabels(environment) },
    data: { key: Buffer.from(key).toString('base64') },
  }
  await cluster.apply(object, { ...options, manager: MANAGER, force: true })
}

/** Deletes the key. */
export async function deleteKey(
  cluster: Cluster,
  environment: string,
  namespace: string,
  options: CallOptions,
): Promise<void> {
  try {
    await cluster.delete({ apiVersion: 'v1', kind: 'Secret', name: recordName(environment), namespace }, options)
  } catch (error) {
    // Who may not touch Secrets has deployed none.
    if (!(error instanceof ClusterError && error.failure === 'forbidden')) throw error
  }
}
