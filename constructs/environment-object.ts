import { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import type { Environment, ServiceAccountPlan, WholeObjectPlan } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'
import type { KubernetesObject } from './manifest.ts'

/** An object that the project's files define completely, deployed as part of the environment. */
export class EnvironmentObject extends ApiObject {
  constructor(scope: Construct, id: string, { plan, environment }: Props<WholeObjectPlan>) {
    super(scope, `${id}-${plan.kind.toLowerCase()}`, wholeObjectJson(plan, environment))
  }
}

/** Returns the JSON of an object that the project's files define completely, with devctl's labels added. */
export function wholeObjectJson(plan: WholeObjectPlan, environment: Environment) {
  // The reader has checked that it is an object with a name, and that its labels are a mapping.
  const object = plan.json as unknown as KubernetesObject
  const { labels, ...metadata } = objectMeta(plan, environment)
  const own = object.metadata
  return {
    ...object,
    metadata: {
      ...own,
      ...metadata,
      labels: { ...own.labels, ...labels },
      annotations: own.annotations && { ...own.annotations },
    },
  }
}

interface Props<P> {
  readonly plan: P
  readonly environment: Environment
}

/** A ServiceAccount of the Pods of a service. */
export class PodAccount extends ApiObject {
  constructor(scope: Construct, id: string, { plan, environment }: Props<ServiceAccountPlan>) {
    super(scope, id, podAccountJson(plan, environment))
  }
}

/** Returns the JSON of a ServiceAccount. */
export function podAccountJson(plan: ServiceAccountPlan, environment: Environment) {
  const metadata = objectMeta(plan, environment)
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...metadata, labels: { ...plan.labels, ...metadata.labels } },
    // Pods do not mount the token by default, as all Pods of devctl.
    automountServiceAccountToken: false,
    ...structuredClone(plan.fields),
  }
}
