import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { RequiredSecret } from '../../compiler/plan/plan.ts'
import type { Remedy } from '../status/hints.ts'
import type { Problem } from '../status/problems.ts'

/** Fields of a container that take variables from Secrets. */
interface Container {
  readonly env?: readonly { readonly valueFrom?: { readonly secretKeyRef?: { name: string; key: string } } }[]
}

/**
 * Returns a hint on how to create a missing Secret that the variables of a workload refer to, with all keys that they
 * need. The hint points to the manifest if the manifest names the Secret (`secrets.values`). Undefined for other
 * problems.
 */
export function missingSecret(
  { code, detail }: Problem,
  { metadata, spec }: KubeObject,
  required: readonly RequiredSecret[],
): Partial<Remedy> | undefined {
  const [, secret] = (code === 'configuration' && /secrets? "([^"]+)" (?:is )?not found/.exec(detail)) || []
  if (secret === undefined) return undefined
  const { template } = (spec ?? {}) as {
    template?: { spec?: { containers?: Container[]; initContainers?: Container[] } }
  } // a workload's spec
  const containers = [...(template?.spec?.initContainers ?? []), ...(template?.spec?.containers ?? [])]
  const variables = containers.flatMap(({ env = [] }) => env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []))
  const keys = [...new Set(variables.flatMap(({ name, key }) => (name === secret ? [key] : [])))].sort()
  if (keys.length === 0) return undefined
  const literals = keys.map(key => `--from-literal=${key}=…`).join(' ')
  const span = required.find(one => one.secret === secret && one.span)?.span
  const other = span ? ', or change what the manifest says of it' : ''
  return {
    hint: `create it before the deploy${other}: \`kubectl -n ${metadata.namespace} create secret generic ${secret} ${literals}\``,
    ...(span && { place: span }),
  }
}
