import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'

/** Admission webhook that the cluster calls for a write. */
export interface ProbedWebhook {
  readonly name: string
  /** Timeout of the webhook, in seconds. */
  readonly seconds: number
}

interface Rule {
  readonly apiGroups?: readonly string[]
  readonly operations?: readonly string[]
  readonly resources?: readonly string[]
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

interface Webhook {
  readonly name: string
  readonly timeoutSeconds?: number
  readonly rules?: readonly Rule[]
  readonly namespaceSelector?: Selector
}

interface Write {
  readonly group: string
  readonly resource: string
  readonly namespace: string | undefined
  readonly operations: readonly string[]
}

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Admission operations of each method. An apply (PATCH) creates missing objects. */
const OPERATIONS: Readonly<Record<Method, readonly string[]>> = {
  POST: ['CREATE'],
  PUT: ['UPDATE'],
  PATCH: ['CREATE', 'UPDATE'],
  DELETE: ['DELETE'],
}

/**
 * Returns the admission webhooks whose rules and namespace selectors match a request; an empty list if the user may not
 * list them, or the signal is aborted first. Ignores further match conditions.
 */
export async function webhooksFor(
  cluster: Cluster,
  { method, path }: { readonly method: Method; readonly path: string },
  signal: AbortSignal,
): Promise<readonly ProbedWebhook[]> {
  const write = toWrite(method, path)
  if (!write) return []
  try {
    const [labels, ...all] = await Promise.all([
      labelsOf(cluster, write.namespace, signal),
      ...['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map(kind =>
        cluster.list({ apiVersion: 'admissionregistration.k8s.io/v1', kind }, { signal }),
      ),
    ])
    return all
      .flat()
      .flatMap(webhooksOf)
      .filter(({ rules = [], namespaceSelector }) => {
        return rules.some(rule => isAbout(rule, write)) && selects(namespaceSelector, labels)
      })
      .map(({ name, timeoutSeconds = 10 }) => ({ name, seconds: timeoutSeconds }))
  } catch {
    // Best effort: the caller then reports its error without the webhooks.
    return []
  }
}

function toWrite(method: Method, path: string): Write | undefined {
  const found = /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/([^/]+)\/)?([^/?]+)/.exec(path)
  return found?.[3] === undefined
    ? undefined
    : { group: found[1] ?? '', namespace: found[2], resource: found[3], operations: OPERATIONS[method] }
}

async function labelsOf(cluster: Cluster, namespace: string | undefined, signal: AbortSignal): Promise<Labels> {
  if (namespace === undefined) return undefined
  const found = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }, { signal })
  return found?.metadata.labels ?? {}
}

/** Labels of a namespace; undefined for cluster-scoped objects, to which namespace selectors do not apply. */
type Labels = Readonly<Record<string, string>> | undefined

function webhooksOf(configuration: KubeObject): readonly Webhook[] {
  const { webhooks = [] } = configuration as { readonly webhooks?: readonly Webhook[] } // its kind says so
  return webhooks
}

const isAbout = ({ apiGroups = [], operations = [], resources = [] }: Rule, write: Write): boolean =>
  isAmong(apiGroups, [write.group]) &&
  isAmong(operations, write.operations) &&
  isAmong(resources, [write.resource, '*/*'])

const isAmong = (all: readonly string[], some: readonly string[]): boolean =>
  all.includes('*') || some.some(one => all.includes(one))

function selects({ matchLabels = {}, matchExpressions = [] }: Selector = {}, labels: Labels): boolean {
  if (!labels) return true
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key]
      if (operator === 'Exists') return value !== undefined
      if (operator === 'DoesNotExist') return value === undefined
      return (value !== undefined && values.includes(value)) === (operator === 'In')
    })
  )
}
