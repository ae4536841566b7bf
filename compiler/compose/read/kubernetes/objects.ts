import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { ModelPath } from '../../../schema/model-path.ts'
import { record, type Shape, text } from '../../../schema/shape.ts'
import type { Span } from '../../../text/source.ts'
import { entry, get, isMap, type MapTree } from '../../../text/tree.ts'
import { isDnsSubdomain } from '../../../values/dns-name.ts'
import type { FieldMap } from '../../../values/kubernetes/fields.ts'
import type { WholeObject } from '../../project.ts'
import { checkAnnotationSize } from '../annotation-size.ts'
import { items, map, nonEmptyText, pairs } from '../tree-values.ts'
import { apiShape } from './api-shape.ts'
import { checkNumbers, readFields, toJson } from './fields.ts'
import { checkInnerMetadata, checkMetadata } from './metadata.ts'

const badObject = diagnostic({
  code: 'kubernetes/bad-object',
  severity: 'error',
  explain: `\`objects\` of the top-level \`x-kubernetes\` is a list of whole objects that belong to the environment. An object has \`apiVersion\`, \`kind\` and \`metadata.name\`. devctl sets its namespace, and deletes it with the environment, so it must be of a kind whose objects are in a namespace. Workloads and Secrets are refused: write services and \`secrets\`, which devctl waits for and keeps out of repositories.

\`\`\`yaml
x-kubernetes:
  objects:
    - apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec:
        minAvailable: 1
        selector: {matchLabels: {app.kubernetes.io/name: web}}
\`\`\``,
  text: (p: { message: string; hint: string }) => p,
})

/** Kinds that `objects` must not contain, each with the reason and the key to use instead. */
const REFUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job', 'Pod'].map(kind => [
      kind,
      'write a service; `x-kubernetes` of the service adds fields to its objects',
    ]),
  ),
  Secret: 'write an entry of `secrets`',
}

/**
 * Well-known kinds of objects that are in no namespace. The deploy also refuses other kinds if the API server says that
 * their objects are in no namespace.
 */
const OF_THE_CLUSTER = new Set(
  `APIService CertificateSigningRequest ClusterIssuer ClusterRole ClusterRoleBinding ClusterSecretStore CSIDriver
  CustomResourceDefinition GatewayClass IngressClass MutatingWebhookConfiguration Namespace Node PersistentVolume
  PriorityClass RuntimeClass StorageClass ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
  ValidatingWebhookConfiguration VolumeSnapshotClass`.split(/\s+/),
)

/** The kinds whose fields are checked, with their API versions. */
const CHECKED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['ConfigMap', 'LimitRange', 'PersistentVolumeClaim', 'ResourceQuota', 'Service', 'ServiceAccount'].map(kind => [
      kind,
      'v1',
    ]),
  ),
  CronJob: 'batch/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Ingress: 'networking.k8s.io/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  Role: 'rbac.authorization.k8s.io/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
}

/** Reads `objects` of the top-level `x-kubernetes`. Reports objects that cannot belong to an environment. */
export function readObjects(project: MapTree, reporter: Reporter): readonly WholeObject[] {
  const found = new Map<string, WholeObject>()
  for (const [index, tree] of items(project, 'x-kubernetes', 'objects').entries()) {
    if (!isMap(tree)) continue
    const object = readObject(tree, index, reporter)
    if (!object) continue
    const key = `${object.json['apiVersion']} ${object.kind} ${object.name}`
    const first = found.get(key)
    if (!first) found.set(key, object)
    else
      reporter.report(
        badObject,
        object.span,
        { message: `the ${object.kind} \`${object.name}\` is in \`objects\` twice`, hint: 'remove one of them' },
        [{ span: first.span, message: 'the first one is here' }],
      )
  }
  return [...found.values()]
}

function readObject(tree: MapTree, index: number, reporter: Reporter): WholeObject | undefined {
  const refuse = (span: Span, message: string, hint: string) => {
    reporter.report(badObject, span, { message, hint })
    return undefined
  }
  const [apiVersion, kind, name] = [
    nonEmptyText(tree, 'apiVersion'),
    nonEmptyText(tree, 'kind'),
    nonEmptyText(tree, 'metadata', 'name'),
  ]
  if (!apiVersion || !kind || !name) {
    const missing = apiVersion ? (kind ? 'metadata.name' : 'kind') : 'apiVersion'
    return refuse(tree.span, `an object of \`x-kubernetes\` has no \`${missing}\``, `add \`${missing}\``)
  }
  const { value } = kind
  if (OF_THE_CLUSTER.has(value))
    return refuse(
      kind.span,
      `a ${value} belongs to the cluster, not to an environment`,
      'create it with other tools: `x-kubernetes` holds objects of the namespace',
    )
  if (REFUSED[value]) return refuse(kind.span, `\`x-kubernetes\` cannot hold a ${value}`, REFUSED[value])
  if (!isDnsSubdomain(name.value) && !/^(Role|RoleBinding)$/.test(value))
    return refuse(name.span, `\`${name.value}\` is not a valid name of an object`, 'use a to z, digits, `-` and `.`')
  const namespace = entry(entry(tree, 'metadata')?.value, 'namespace')
  if (namespace)
    return refuse(
      namespace.key,
      'objects of `x-kubernetes` are in the namespace of the environment',
      'remove `namespace`; `--namespace`, or the environment in devctl.yml, sets it',
    )
  const status = entry(tree, 'status')
  if (status) return refuse(status.key, 'the cluster writes `status`', 'remove `status`')
  const path = ['x-kubernetes', 'objects', index]
  const isChecked = CHECKED[value] === apiVersion.value
  const json = isChecked
    ? readFields(tree, apiShape(value, 'whole'), path, reporter)
    : hasTextMetadata(tree, path, reporter) && checkNumbers(tree, reporter) && (toJson(tree) as FieldMap) // a mapping becomes one
  if (!json) return undefined
  if (!(isChecked ? checkInnerMetadata(tree, reporter) : checkMetadata(get(tree, 'metadata'), reporter)))
    return undefined
  checkAnnotationSize(reporter, 'annotations', pairs(tree, ['metadata', 'annotations']))
  return { kind: value, name: name.value, json, span: kind.span }
}

/**
 * Reports labels and annotations that are not text, in an object of an unknown kind. Returns false if there are any.
 */
function hasTextMetadata(tree: MapTree, path: ModelPath, reporter: Reporter): boolean {
  const metadata = map(tree, 'metadata')
  if (!metadata) return true
  const shape: Shape = {
    map: {
      keys: { labels: record(text()), annotations: record(text()) },
      others: { row: { any: true }, names: /^/, otherwise: 'ignored', called: 'FIELD' },
      required: [],
      extensions: false,
      unknown: 'error',
    },
  }
  return readFields(metadata, shape, [...path, 'metadata'], reporter) !== undefined
}
