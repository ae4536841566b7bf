import type { Labels } from '../labels.ts'
import type { Detached } from './detach.ts'
import { compact, type Json } from './json.ts'
import { DEVELOPMENT_LABEL, labelValue, MIRROR_LABEL, mirrorName, SESSION_ANNOTATION } from './names.ts'
import type { ContainerSettings, LiveObject, MirrorFacts, MirrorObject, MirrorSettings } from './settings.ts'

/** Labels of the application that say whose it is; the others may be those by which a tool finds what it made. */
const OF_DEVCTL = /^dev\.platform\//

/** The labels of every object of a development container. */
export const developmentLabels = (settings: Pick<MirrorSettings, 'name'>): Labels => ({
  'app.kubernetes.io/managed-by': 'devctl',
  [DEVELOPMENT_LABEL]: settings.name,
})

/** What a mirror belongs to: with the application it is deleted, too. */
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
  pod: { readonly spec: Json; readonly replicas: number; readonly session?: string; readonly labels?: Labels },
): MirrorObject {
  const name = original?.metadata.name ?? development.name
  const labels = { ...detached.labels, [MIRROR_LABEL]: labelValue(name) }
  const kept = Object.entries(original?.metadata.labels ?? {}).filter(
    ([key]) => OF_DEVCTL.test(key) && key !== UP_LABEL,
  )
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: mirrorName(name),
      namespace: facts.namespace,
      labels: {
        ...Object.fromEntries(kept),
        ...developmentLabels(development),
        [MIRROR_LABEL]: labelValue(name),
        ...container.labels,
      },
      ...compact({ annotations: container.annotations }),
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

/** The label of an application that has a mirror. */
export const UP_LABEL = 'dev.platform/up'
