import type { Environment, ObjectPlan } from '../compiler/plan/plan.ts'

export type Labels = Readonly<Record<string, string>>

/**
 * Metadata of an object: what its plan says and the labels that every object of ours carries. Kept
 * free of undefined values.
 */
export interface PlannedMeta {
  readonly name?: string
  readonly namespace?: string | undefined
  readonly labels: Record<string, string>
  readonly annotations?: Record<string, string> | undefined
}

/**
 * The metadata of an object. `name` is given where it differs from the plan's: Jobs carry a hash.
 */
export function objectMeta(object: ObjectPlan, environment: Environment, name = object.name): PlannedMeta {
  return {
    name,
    namespace: environment.namespace,
    labels: standardLabels(environment, object.service),
    annotations: annotations(object.annotations),
  }
}

/**
 * The labels of all objects; with a service those of what belongs to it.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/common-labels/
 */
export function standardLabels(environment: Environment, service: string | undefined): Record<string, string> {
  const shared = {
    'app.kubernetes.io/managed-by': 'devctl',
    'app.kubernetes.io/part-of': environment.name,
    ...environmentLabels(environment),
  }
  if (service === undefined) return shared
  return {
    'app.kubernetes.io/instance': environment.name,
    'app.kubernetes.io/name': service,
    ...shared,
    ...selectorLabels(environment, service),
  }
}

/**
 * The labels by which a service's Pods are found. Selectors are immutable, so these two never
 * change.
 */
export function selectorLabels(environment: Environment, service: string): Record<string, string> {
  return { ...environmentLabels(environment), 'dev.platform/service': service }
}

/** The label of everything that belongs to an environment. */
export function environmentLabels(environment: Environment): Record<string, string> {
  return { 'dev.platform/environment': environment.name }
}

/** A copy of annotations; undefined when there are none, so that no empty map is written. */
export function annotations(of: Labels | undefined): Record<string, string> | undefined {
  return of && Object.keys(of).length ? { ...of } : undefined
}
