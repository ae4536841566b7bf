import type { Environment, ObjectPlan } from '../compiler/plan/plan.ts'
import type { KubernetesObject } from './manifest.ts'

export type Labels = Readonly<Record<string, string>>

/**
 * Metadata of an object: the name and annotations of its plan, and the labels of every devctl object. Free of undefined
 * values.
 */
export interface PlannedMeta {
  readonly name?: string
  readonly namespace?: string | undefined
  readonly labels: Record<string, string>
  readonly annotations?: Record<string, string> | undefined
}

/**
 * Returns the metadata of an object. `name` is passed if it differs from the plan's name, because Jobs have a hash in
 * their names.
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
 * Returns the labels of every object and, if a service is passed, also the labels of the service's objects.
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

/** Returns the labels that select a service's Pods. Selectors are immutable, so these two labels must never change. */
export function selectorLabels(environment: Environment, service: string): Record<string, string> {
  return { ...environmentLabels(environment), 'dev.platform/service': service }
}

/** Returns the label of everything that belongs to an environment. */
export function environmentLabels(environment: Environment): Record<string, string> {
  return { 'dev.platform/environment': environment.name }
}

/** Copies annotations; returns undefined if there are none, so that no empty map is written. */
export function annotations(of: Labels | undefined): Record<string, string> | undefined {
  return of && Object.keys(of).length ? { ...of } : undefined
}

/** Annotation with the hash of the Pod template of each dependency with `restart: true`: `api=9d2f08c1 db=27637bac`. */
export const RESTARTS_WITH = 'dev.platform/restarts-with'

/** Returns the services with which the Pods of a live workload are restarted. */
export function restartsWith(workload: KubernetesObject): readonly string[] {
  const { template } = (workload['spec'] ?? {}) as { template?: { metadata?: { annotations?: Labels } } }
  const value = template?.metadata?.annotations?.[RESTARTS_WITH] ?? ''
  return value.split(' ').map(pair => pair.replace(/=.*/, ''))
}
