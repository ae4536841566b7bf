import type { Labels } from '../labels.ts'
import { type Json, mapIn } from './json.ts'
import type { LiveObject } from './settings.ts'

/** Labels that controllers give their Pods, and take for their own. */
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
/** Fields that only the Pods of Jobs may have. */
const OF_JOBS = ['restartPolicy', 'activeDeadlineSeconds']

/** A Pod template of its own: labels, annotations, and the spec with every field that it has. */
export interface Detached {
  readonly labels: Labels
  readonly annotations: Labels
  readonly spec: Json
}

/** The Pod template of an application without what its controllers wrote into it. */
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

/** The Pod template of a workload of any kind. */
function templateOf({ kind, ...fields }: LiveObject): Json {
  const spec = mapIn(fields, 'spec')
  return mapIn(kind === 'CronJob' ? mapIn(mapIn(spec, 'jobTemplate'), 'spec') : spec, 'template')
}
