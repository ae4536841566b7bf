import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/** The first Kubernetes version in which the admission policies of `platform/install` are stable. */
const OLDEST = '1.30'

/**
 * Throws a UserError if the cluster is too old for a platform, before anything is changed in it. Looks for the kind of
 * admission policies, because a distribution may report any version. Without these policies, nothing separates
 * namespaces.
 */
export async function requireKubernetes(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const kind = 'ValidatingAdmissionPolicy'
  if (await cluster.resource('admissionregistration.k8s.io/v1', kind, { signal })) return
  throw new UserError(`the cluster of \`${cluster.name}\` is too old for a platform: it has no \`${kind}\``, {
    hint: `upgrade the cluster to Kubernetes ${OLDEST} or later`,
    notes: ['admission policies separate the namespaces of a platform from each other'],
  })
}
