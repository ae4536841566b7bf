import { type CallOptions, type Cluster, ClusterError, type KubeObject } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Clock } from './clock.ts'
import { ENVIRONMENT_LABEL } from './labels.ts'
import { recordName } from './record.ts'

/** Seconds after which a holder that says nothing more counts as gone. */
const DURATION = 30
const RENEWAL = 10_000

interface LeaseSpec {
  readonly holderIdentity?: string
  readonly leaseDurationSeconds?: number
  readonly renewTime?: string
}

/**
 * Does the work while holding the environment's Lease, so that two deploys of one environment never mix. Throws a UserError that names the holder when somebody
 * else has it; one that is older than its duration was left by a process that died, and is taken.
 */
export async function withLease<Result>(
  cluster: Cluster,
  {
    environment,
    namespace,
    holder,
  }: { readonly environment: string; readonly namespace: string; readonly holder: string },
  clock: Clock,
  options: CallOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const ref = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: recordName(environment), namespace }
  const leaseWith = (metadata: Partial<KubeObject['metadata']>): KubeObject => ({
    apiVersion: ref.apiVersion,
    kind: ref.kind,
    metadata: {
      name: ref.name,
      namespace,
      labels: { [ENVIRONMENT_LABEL]: environment, 'app.kubernetes.io/managed-by': 'devctl' },
      ...metadata,
    },
    spec: { holderIdentity: holder, leaseDurationSeconds: DURATION, renewTime: microTime(clock.now()) },
  })
  const taken = async (): Promise<UserError> => {
    const found = await cluster.get(ref, options)
    const { holderIdentity } = (found?.['spec'] ?? {}) as LeaseSpec // a Lease's spec
    return new UserError(`another deploy of \`${environment}\` is running`, {
      notes: [`held by ${holderIdentity ?? 'somebody'}`],
      hint: 'wait until it is done; if its process has died, the environment is free within 30 seconds',
    })
  }

  let held: KubeObject
  try {
    const there = await cluster.get(ref, options)
    if (there && isAlive(there, clock.now())) throw await taken()
    const { resourceVersion } = there?.metadata ?? {}
    held = resourceVersion
      ? await cluster.replace(leaseWith({ resourceVersion }), options)
      : await cluster.create(leaseWith({}), options)
  } catch (error) {
    if (error instanceof ClusterError && (error.failure === 'exists' || error.failure === 'conflict'))
      throw await taken()
    throw error
  }

  let renewing = Promise.resolve()
  const stop = clock.every(RENEWAL, () => {
    renewing = renewing.then(async () => {
      try {
        const { resourceVersion } = held.metadata
        held = await cluster.replace(leaseWith({ ...(resourceVersion && { resourceVersion }) }), options)
      } catch {
        // The next renewal tries again; two are missed before anybody may take the Lease.
      }
    })
  })
  try {
    return await work()
  } finally {
    stop()
    await renewing
    // Not with the signal of the work: an interrupted deploy gives the environment back, too.
    await cluster.delete(ref, { uid: held.metadata.uid }).catch(() => undefined)
  }
}

function isAlive(lease: KubeObject, now: number): boolean {
  const { renewTime, leaseDurationSeconds = DURATION, holderIdentity } = (lease['spec'] ?? {}) as LeaseSpec // a Lease's spec
  return Boolean(holderIdentity && renewTime) && Date.parse(renewTime!) + leaseDurationSeconds * 1000 > now
}

/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/: with microseconds. */
const microTime = (milliseconds: number): string => new Date(milliseconds).toISOString().replace('Z', '000Z')
