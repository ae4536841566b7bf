import { RESTARTS_WITH } from '../../../constructs/labels.ts'
import type { Listed } from '../../support/cluster/objects.ts'

/** Annotation that makes Flux leave the `$` of an object alone. */
const LITERAL = 'kustomize.toolkit.fluxcd.io/substitute'

/** Annotations that a claim has only in a repository, and that prevent its pruning. */
const MARKS = [
  'argocd.argoproj.io/compare-options',
  'argocd.argoproj.io/sync-options',
  'kustomize.toolkit.fluxcd.io/prune',
]
/** Annotations of Kubernetes itself. */
const SERVERS = /^(deployment\.kubernetes\.io\/revision|(pv|volume)\.(beta\.)?kubernetes\.io\/.*)$/
const SECRETS = 'dev.platform/secrets'

interface Names {
  readonly namespace: string
  /** The name of the environment. */
  readonly environment: string
}

/**
 * Returns the objects of an application by name, with all fields that a client has set and none that only the server
 * knows, so that the objects of two namespaces can be compared. Leaves out the marks for controllers, and the HMAC of
 * secrets with the hashes and the names of Jobs that follow from it.
 */
export function asWritten(
  objects: readonly Listed[],
  { namespace, environment }: Names,
): Readonly<Record<string, unknown>> {
  const own = objects.filter(
    ({ kind, metadata: { name } }) =>
      !['kube-root-ca.crt', 'default', `devctl-${environment}`].includes(name) && kind !== 'PodMetrics',
  )
  const hashed = own.filter(
    object => object.kind === 'Job' && /"(secretName|secretKeyRef)"/.test(JSON.stringify(object)),
  )
  const names = hashed.map(({ metadata: { name } }) => [name, name.replace(/[^-]+$/, 'HASH')] as const)
  return Object.fromEntries(
    own
      .map(object => {
        const text = JSON.stringify(written(object)).replaceAll(namespace, 'NAME').replaceAll(environment, 'NAME')
        const plain = names.reduce((all, [name, said]) => all.replaceAll(name, said), text)
        const result = JSON.parse(plain)
        return [`${result.kind}/${result.metadata.name}`, result] as const
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

function written(object: Listed): unknown {
  const { kind, metadata, spec, ...rest } = object
  const { labels, annotations = {}, name } = metadata
  const said = Object.entries(annotations).filter(
    ([key]) => !SERVERS.test(key) && key !== LITERAL && !(kind === 'PersistentVolumeClaim' && MARKS.includes(key)),
  )
  // Leaves out the namespace, the times, the versions and the status of the object.
  const { status: _, ...others } = rest as typeof rest & { status?: unknown }
  return {
    ...others,
    kind,
    metadata: { name, labels, annotations: Object.fromEntries(said) },
    ...(spec && { spec: specOf(kind, spec) }),
  }
}

function specOf(kind: string, spec: Readonly<Record<string, unknown>>): unknown {
  const { clusterIP, clusterIPs: _, volumeName: __, ...rest } = spec
  const kept = clusterIP === 'None' ? { ...rest, clusterIP } : rest
  const text = JSON.stringify(kept, (key, value) => {
    if (key === SECRETS || /^(batch\.kubernetes\.io\/)?(controller-uid|job-name)$/.test(key)) return undefined
    if (key === RESTARTS_WITH) return String(value).replace(/=\w+/g, '=HASH')
    // Nothing is left of the annotations where this was the only one.
    return key === 'annotations' && Object.keys(value).every(one => one === SECRETS) ? undefined : value
  })
  const { selector, ...others } = JSON.parse(text)
  // Jobs select by their UID.
  return kind === 'Job' ? others : { ...others, ...(selector && { selector }) }
}
