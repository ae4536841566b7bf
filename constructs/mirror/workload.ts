import type { Labels } from '../labels.ts'
import type { Detached } from './detach.ts'
import { compact, type Json } from './json.ts'
import { DEVELOPMENT_LABEL, labelValue, MIRROR_LABEL, mirrorName, SESSION_ANNOTATION, UP_LABEL } from './names.ts'
import type { ContainerSettings, LiveObject, MirrorFacts, MirrorObject, MirrorSettings } from './settings.ts'

/**
 * Annotation with the container that kubectl uses by default:
 * https://kubernetes.io/docs/reference/labels-annotations-taints/#kubectl-kubernetes-io-default-container
 */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container'

/**
 * Matches the labels of the application that identify its owner in devctl, and that its mirror copies. Other labels are
 * not copied, because other tools may use them to find their own objects.
 */
const OF_DEVCTL = /^dev\.platform\//

/**
 * Returns the labels of every object of a development container. They include the labels of the application's
 * environment, so that destroying the environment also deletes the development container.
 */
export function developmentLabels({ name }: Pick<MirrorSettings, 'name'>, original: LiveObject | undefined): Labels {
  const kept = Object.entries(original?.metadata.labels ?? {}).filter(
    ([key]) => OF_DEVCTL.test(key) && key !== UP_LABEL,
  )
  return { ...Object.fromEntries(kept), 'app.kubernetes.io/managed-by': 'devctl', [DEVELOPMENT_LABEL]: name }
}

/** Returns labels with the values that the settings give them. Adds no label. */
export const overlaid = (labels: Labels, settings: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, settings[key] ?? value]))

/** Returns the owner references of a mirror, by which Kubernetes deletes the mirror together with the application. */
export function ownerReferences(original: LiveObject | undefined): Json {
  if (original?.metadata.uid === undefined) return {}
  const { apiVersion, kind, metadata } = original
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] }
}

/** Input for the workload of a mirror: the template of its Pods, their number and their metadata. */
interface MirrorPod {
  /** Pod template of the original, without the labels and fields that controllers add. */
  readonly detached: Detached
  readonly container: ContainerSettings
  readonly spec: Json
  readonly replicas: number
  /** Hash of the data that the Pods read from the Secret of the session. */
  readonly session?: string | undefined
  /** Name of the container that kubectl uses by default. */
  readonly main?: string
  readonly labels?: Labels
  readonly annotations?: Labels
}

/** Returns the Deployment that replaces an application during development. */
export function mirrorWorkload(
  original: LiveObject | undefined,
  development: MirrorSettings,
  facts: MirrorFacts,
  { detached, container, ...pod }: MirrorPod,
): MirrorObject {
  const name = original?.metadata.name ?? development.name
  const labels = { ...overlaid(detached.labels, container.labels), [MIRROR_LABEL]: labelValue(name) }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: mirrorName(name),
      namespace: facts.namespace,
      labels: {
        ...container.labels,
        ...developmentLabels(development, original),
        [MIRROR_LABEL]: labelValue(name),
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
          labels: { ...container.labels, ...labels, ...pod.labels, [DEVELOPMENT_LABEL]: development.name },
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
