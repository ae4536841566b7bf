import type { Labels } from '../labels.ts'
import { type Json, mapIn } from './json.ts'
import type { LiveObject } from './settings.ts'

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

/** Returns the Pod template of an application without the labels that its controllers add. */
export function detach(original: LiveObject): Detached {
  const template = templateOf(original)
  const { labels = {}, annotations = {} } = mapIn(template, 'metadata') as { labels?: Labels; annotations?: Labels } // a template's
  const spec = Object.entries(mapIn(template, 'spec')).filter(([field]) => !OF_JOBS.includes(field))
  return {
    labels: Object.fromEntries(Object.entries(labels).filter(([name]) => !GENERATED.has(name))),
    annotations,
    spec: Object.fromEntries(spec),
  }
}

/** Returns the Pod template of a workload of any kind. */
function templateOf({ kind, ...fields }: LiveObject): Json {
  const spec = mapIn(fields, 'spec')
  return mapIn(kind === 'CronJob' ? mapIn(mapIn(spec, 'jobTemplate'), 'spec') : spec, 'template')
}
