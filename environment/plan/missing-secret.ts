import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { RequiredSecret } from '../../compiler/plan/plan.ts'
import type { Remedy } from '../status/hints.ts'
import type { Problem } from '../status/problems.ts'

/** Fields of a Pod that take values from Secrets. */
interface PodSpec {
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly volumes?: readonly (SecretSource & { readonly projected?: { readonly sources?: readonly SecretSource[] } })[]
}

interface Container {
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: { name: string; key: string } } }[]
}

interface SecretSource {
  readonly secret?: {
    /**
     * Name of the Secret in the source of a projected volume. A volume with only one Secret uses `secretName` instead.
     */
    readonly name?: string
    readonly secretName?: string
    readonly items?: readonly { readonly key: string }[]
  }
}

/** Returns the name of the Secret that a problem reports as missing; undefined for other problems. */
const missingName = ({ code, detail }: Pick<Problem, 'code' | 'detail'>): string | undefined =>
  (code === 'configuration' && /secrets? "([^"]+)" (?:is )?not found/.exec(detail)?.[1]) || undefined

/**
 * Returns the keys of the Secret that a problem reports as missing, sorted. Contains only the keys that the workload
 * refers to by name.
 */
export function keysOfMissing(problem: Pick<Problem, 'code' | 'detail'>, { spec }: KubeObject): readonly string[] {
  const secret = missingName(problem)
  const { template } = (spec ?? {}) as { template?: { spec?: PodSpec } } // a workload's spec
  const pod = template?.spec ?? {}
  const variables = [...(pod.initContainers ?? []), ...(pod.containers ?? [])].flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []),
  )
  const files = (pod.volumes ?? [])
    .flatMap(volume => [volume, ...(volume.projected?.sources ?? [])])
    .flatMap(({ secret: one }) => (one?.items ?? []).map(({ key }) => ({ name: one?.secretName ?? one?.name, key })))
  return [...new Set([...variables, ...files].flatMap(({ name, key }) => (name === secret ? [key] : [])))].sort()
}

/**
 * Returns a hint on how to create a missing Secret that a workload refers to, with all keys that it needs. The hint
 * points to the manifest if the manifest names the Secret (`secrets.values`). Undefined for other problems.
 */
export function missingSecret(
  problem: Problem,
  workload: KubeObject,
  required: readonly RequiredSecret[],
): Partial<Remedy> | undefined {
  const secret = missingName(problem)
  const keys = keysOfMissing(problem, workload)
  if (secret === undefined || keys.length === 0) return undefined
  const { namespace } = workload.metadata
  const literals = keys.map(key => `--from-literal=${key}=…`).join(' ')
  const span = required.find(one => one.secret === secret && one.span)?.span
  const other = span ? ', or change what the manifest says of it' : ''
  return {
    hint: `create it before the deploy${other}: \`kubectl -n ${namespace} create secret generic ${secret} ${literals}\``,
    ...(span && { place: span }),
  }
}
