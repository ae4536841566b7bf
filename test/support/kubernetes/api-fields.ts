/** The part of an OpenAPI schema that says of which type a field is. */
interface Schema {
  readonly $ref?: string
  readonly allOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
}

/** The schemas of an API server, by their full name. */
export type Schemas = Readonly<Record<string, Schema>>

/** The OpenAPI documents that contain the kinds below. */
export const DOCUMENTS = [
  'api/v1',
  'apis/apps/v1',
  'apis/autoscaling/v2',
  'apis/batch/v1',
  'apis/networking.k8s.io/v1',
  'apis/policy/v1',
  'apis/rbac.authorization.k8s.io/v1',
]

/** The types that the table starts with. Their fields lead to the others. */
const ROOTS = [
  ...['core.v1.Service', 'core.v1.ServiceAccount', 'core.v1.ConfigMap', 'core.v1.PersistentVolumeClaim'],
  ...['core.v1.LimitRange', 'core.v1.ResourceQuota'],
  ...['apps.v1.DeploymentSpec', 'apps.v1.StatefulSetSpec', 'apps.v1.DaemonSetSpec', 'batch.v1.CronJob'],
  ...['autoscaling.v2.HorizontalPodAutoscaler', 'networking.v1.Ingress', 'networking.v1.NetworkPolicy'],
  ...['policy.v1.PodDisruptionBudget', 'rbac.v1.Role', 'rbac.v1.RoleBinding'],
].map(name => `io.k8s.api.${name}`)

/** Fields that only the API server sets. */
const OF_THE_SERVER = new Set(['status', 'managedFields', 'ownerReferences', 'creationTimestamp', 'deletionTimestamp'])

/** Returns the text of `compiler/values/kubernetes/api-fields.ts` for the schemas of an API server. */
export function apiFields(schemas: Schemas): string {
  const lines = new Map<string, string>()
  const queue = [...ROOTS]
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const short = shortName(name)
    if (lines.has(short)) continue
    const { properties = {}, required = [] } = schemas[name]!
    const fields = Object.entries(properties)
      .filter(([field]) => !OF_THE_SERVER.has(field))
      .map(([field, schema]) => `${field}${required.includes(field) ? '!' : ''}:${typeOf(schema, schemas, queue)}`)
    lines.set(short, `${short} ${fields.sort().join(' ')}`)
  }
  return `// Generated from the OpenAPI schemas of Kubernetes: npx vitest run test/api/cluster/api-fields.test.ts -u
/**
 * Types of the Kubernetes API, one a line: the name, and the fields with their types. \`!\` marks a required field,
 * \`{T}\` a map and \`[T]\` a list. A strategic merge pairs the items of \`[T]KEY\` by the field KEY, and unites the
 * items of \`[T]*\`.
 */
export const API_FIELDS = \`
${[...lines.values()].sort().join('\n')}
\`
`
}

function typeOf(schema: Schema, schemas: Schemas, queue: string[]): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref
  if (reference !== undefined) {
    const name = reference.replace('#/components/schemas/', '')
    const target = schemas[name]!
    if (name.endsWith('.Quantity')) return 'quantity'
    if (name.endsWith('.IntOrString')) return 'intOrString'
    if (!target.properties) return target.type === 'string' ? 'string' : 'any'
    queue.push(name)
    return shortName(name)
  }
  if (schema.type === 'array') {
    const merges = schema['x-kubernetes-patch-strategy']?.startsWith('merge')
    const key = merges ? (schema['x-kubernetes-patch-merge-key'] ?? '*') : ''
    return `[${typeOf(schema.items!, schemas, queue)}]${key}`
  }
  if (schema.type === 'object')
    return typeof schema.additionalProperties === 'object'
      ? `{${typeOf(schema.additionalProperties, schemas, queue)}}`
      : 'any'
  if (schema.type === 'string' && schema.enum) return schema.enum.map(word => `"${word}"`).join('|')
  if (schema.type === 'integer') return schema.format ?? 'int64'
  return schema.type ?? 'any'
}

/** Returns a name without its group: no two types of the table have the same one. */
const shortName = (name: string) => name.split('.').at(-1)!
