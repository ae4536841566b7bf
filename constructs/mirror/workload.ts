import type { Labels } from '../labels.ts'
import type { Detached } from './detach.ts'
import { compact, type Json } from './json.ts'
import { DEVELOPMENT_LABEL, labelValue, MIRROR_LABEL, mirrorName, SESSION_ANNOTATION, UP_LABEL } from './names.ts'
import type { ContainerSettings, LiveObject, MirrorFacts, MirrorObject, MirrorSettings } from './settings.ts'

/** https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-default-container */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container'

/** Labels of the application that say whose it is; the others may be those by which a tool finds what it made. */
const OF_DEVCTL = /^dev\.platform\//

/**
 * The labels of every object of a development container, with those of the application's
 * environment, which ends it when it is destroyed.
 */
export function developmentLabels({ name }: Pick<MirrorSettings, 'name'>, original: LiveObject | undefined): Labels {
  const kept = Object.entries(original?.metadata.labels ?? {}).filter(
    ([key]) => OF_DEVCTL.test(key) && key !== UP_LABEL,
  )
  return { ...Object.fromEntries(kept), 'app.kubernetes.io/managed-by': 'devctl', [DEVELOPMENT_LABEL]: name }
}

/** Returns the owner references of a mirror: it is deleted together with the application. */
export function ownerReferences(original: LiveObject | undefined): Json {
  if (original?.metadata.uid === undefined) return {}
  const { apiVersion, kind, metadata } = original
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] }
}

/** The Deployment that stands in for an application. */
export function mirrorWorkload(
  original: LiveObject | undefined,
  detached: Detached,
  development: MirrorSettings,
  container: ContainerSettings,
  facts: MirrorFacts,
  pod: {
    readonly spec: Json
    readonly replicas: number
    /** A hash of what the Pods take from the Secret of the session. */
    readonly session?: string | undefined
    /** The container that is meant where none is named. */
    readonly main?: string
    readonly labels?: Labels
    readonly annotations?: Labels
  },
): MirrorObject {
  const name = original?.metadata.name ?? development.name
  const labels = { ...detached.labels, [MIRROR_LABEL]: labelValue(name) }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: mirrorName(name),
      namespace: facts.namespace,
      labels: {
        ...developmentLabels(development, original),
        [MIRROR_LABEL]: labelValue(name),
        ...container.labels,
      },
      ...compact({ annotations: { ...container.annotations, ...pod.annotations } }),
      ...ownerReferences(original),
    },
    spec: {
      replicas: pod.replicas,
      revisionHistoryLimit: 0,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels },
      template: {
        metadata: compact({
          labels: { ...labels, ...container.labels, ...pod.labels, [DEVELOPMENT_LABEL]: development.name },
          annotations: {
            ...(pod.main !== undefined && { [DEFAULT_CONTAINER]: pod.main }),
            ...detached.annotations,
            ...container.annotations,
            ...(pod.session !== undefined && { [SESSION_ANNOTATION]: pod.session }),
          },
        }),
        spec: pod.spec,
      },
    },
  }
}
