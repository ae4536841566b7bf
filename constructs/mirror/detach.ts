import type { Labels } from '../labels.ts'
import { isSidecar } from '../manifest.ts'
import { type Json, listIn, mapIn } from './json.ts'
import type { ContainerSettings, LiveObject } from './settings.ts'

/** Labels that controllers add to their Pods in order to recognize the Pods later. */
const GENERATED = new Set([
  'pod-template-hash',
  'controller-revision-hash',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
  'batch.kubernetes.io/job-completion-index',
])
/** Fields that are allowed only in the Pods of Jobs. */
const OF_JOBS = ['restartPolicy', 'activeDeadlineSeconds']

/** An independent Pod template: labels, annotations, and a spec with all of its fields. */
export interface Detached {
  readonly labels: Labels
  readonly annotations: Labels
  readonly spec: Json
}

/**
 * Returns the Pod template of an application without the labels that its controllers add. If the settings name a
 * sidecar, the sidecar becomes a regular container. As a sidecar, it would start first, and its probes would delay the
 * other containers while the user works in it.
 */
export function detach(original: LiveObject, { container }: Pick<ContainerSettings, 'container'>): Detached {
  const template = templateOf(original)
  const { labels = {}, annotations = {} } = mapIn(template, 'metadata') as { labels?: Labels; annotations?: Labels } // a template's
  const spec = Object.entries(mapIn(template, 'spec')).filter(([field]) => !OF_JOBS.includes(field))
  return {
    labels: Object.fromEntries(Object.entries(labels).filter(([name]) => !GENERATED.has(name))),
    annotations,
    spec: withoutSidecar(Object.fromEntries(spec), container),
  }
}

/** Returns the Pod template of a workload of any kind. */
function templateOf({ kind, ...fields }: LiveObject): Json {
  const spec = mapIn(fields, 'spec')
  return mapIn(kind === 'CronJob' ? mapIn(mapIn(spec, 'jobTemplate'), 'spec') : spec, 'template')
}

function withoutSidecar(spec: Json, name: string | undefined): Json {
  const before = listIn(spec, 'initContainers')
  const found = before.find(one => isSidecar(one) && one['name'] === name)
  if (!found) return spec
  const { restartPolicy: _, ...container } = found
  return {
    ...spec,
    initContainers: before.filter(one => one !== found),
    containers: [...listIn(spec, 'containers'), container],
  }
}
