import type { ClusterError, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { ENVIRONMENT_LABEL } from '../labels.ts'
import { controllerOf } from '../status/owners.ts'
import type { Choices } from './choices.ts'
import { type DesiredObject, nameOf } from './desired-state.ts'
import { isOfEndingNamespace, namespaceEnds } from './namespace.ts'
import { webhookRefusal } from './webhook-refusal.ts'

/**
 * Throws a UserError unless the object may be adopted: it must not have an owner, and the user must have requested
 * adoptions.
 */
export function refuseForeign({ object, source }: DesiredObject, there: KubeObject, { adopt }: Choices): void {
  const name = `\`${nameOf(object)}\``
  const owner = ownerOf(there)
  const notes = [`rendered from ${source}`]
  if (owner === undefined && adopt) return
  if (owner === undefined)
    throw new UserError(`${name} already exists and is not managed by devctl`, {
      notes,
      hint: 'add `--adopt` to make it part of this environment, rename the service, or choose another namespace',
    })
  throw new UserError(`${name} already exists and belongs to ${owner}`, {
    notes,
    hint: 'use another namespace for the environment, or rename the service',
  })
}

/** Labels and annotations with which other tools mark their objects, with the names of these tools. */
const OWNERS: readonly (readonly [where: 'labels' | 'annotations', key: string, name: (value: string) => string])[] = [
  ['labels', ENVIRONMENT_LABEL, value => `the environment \`${value}\``],
  ['annotations', 'meta.helm.sh/release-name', value => `the Helm release \`${value}\``],
  ['annotations', 'argocd.argoproj.io/tracking-id', value => `the Argo CD application \`${value.split(':')[0]}\``],
  ['labels', 'kustomize.toolkit.fluxcd.io/name', value => `the Flux Kustomization \`${value}\``],
  ['labels', 'helm.toolkit.fluxcd.io/name', value => `the Flux HelmRelease \`${value}\``],
  ['labels', 'applyset.kubernetes.io/part-of', value => `the ApplySet \`${value}\``],
]

function ownerOf(object: KubeObject): string | undefined {
  for (const [where, key, name] of OWNERS) {
    const value = object.metadata[where]?.[key]
    if (value !== undefined) return name(value)
  }
  const controller = controllerOf(object)
  return controller && `${controller.kind.toLowerCase()}/${controller.name}`
}

/** Returns the error for an object of a kind that the cluster does not have. */
export const unknownKind = ({ object, source }: DesiredObject, cause?: unknown): UserError =>
  new UserError(`the cluster does not know the kind \`${object.kind}\` of \`${object.apiVersion}\``, {
    notes: [`rendered from ${source}`],
    hint: 'install its CustomResourceDefinition, such as the Gateway API',
    ...(cause !== undefined && { cause }),
  })

/** Returns an error that explains to the user why the cluster rejects an object. */
export function refusal(error: ClusterError, { object, source }: DesiredObject): unknown {
  const name = `\`${nameOf(object)}\``
  const byWebhook = webhookRefusal(error, name, [`rendered from ${source}`])
  if (byWebhook) return byWebhook
  const { namespace } = object.metadata
  const causes = error.causes.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  const notes = [`rendered from ${source}`, ...(causes.length > 0 ? causes : [error.message])]
  if (error.failure === 'not-found' && /namespaces? "/.test(error.message))
    return new UserError(`the namespace \`${namespace}\` does not exist`, {
      hint: `create it with \`kubectl create namespace ${namespace}\`, or name another one with \`--namespace\``,
      cause: error,
    })
  if (isOfEndingNamespace(error)) return namespaceEnds(namespace ?? '', [], error)
  if (error.failure === 'not-found') return unknownKind({ object, source }, error)
  if (error.failure === 'forbidden' && /exceeded quota|violates PodSecurity/.test(error.message))
    return new UserError(`the cluster refused ${name}`, { notes, cause: error })
  // The API server answers 403 if the storage class does not allow expansion.
  const isSize = error.failure === 'forbidden' && /resize/.test(error.message)
  if ((error.failure === 'invalid' || isSize) && object.kind === 'PersistentVolumeClaim')
    return new UserError(`the claim \`${object.metadata.name}\` cannot be changed as the file requires`, {
      notes,
      hint: `a claim can only grow, if its storage class allows it, and cannot change its class: keep its size and class, rename the volume, or delete the claim with its data: \`kubectl delete pvc ${object.metadata.name}\``,
      cause: error,
    })
  // devctl never changes a selector, so a different selector means that the object existed before.
  if (error.failure === 'invalid' && /spec\.selector.*immutable/s.test(causes.join('\n')))
    return new UserError(`${name} cannot be adopted: the selector of a workload is immutable`, {
      notes: [`rendered from ${source}`],
      hint: `rename the service, or delete it first: \`kubectl delete ${object.kind.toLowerCase()} ${object.metadata.name}\``,
      cause: error,
    })
  if (error.failure === 'invalid')
    return new UserError(`the cluster refused ${name}`, {
      notes,
      cause: error,
    })
  return error
}
