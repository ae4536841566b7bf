import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type {
  ClaimSpec,
  DaemonSetPlan,
  DeploymentPlan,
  Environment,
  JobPlan,
  RollingUpdate,
  StatefulSetPlan,
} from '../compiler/plan/plan.ts'
import { annotations, objectMeta, selectorLabels, standardLabels } from './labels.ts'
import { addNewerFields, type PodTemplate } from './pod/newer-fields.ts'
import { toClaimSpec } from './pod/volumes.ts'

/** What the workload constructs share: where they belong, and the Pods they run. */
interface Running<P> {
  readonly plan: P
  readonly environment: Environment
  readonly template: PodTemplate
}

/** A service that runs as replaceable Pods. */
export class ServiceDeployment extends k8s.KubeDeployment {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, { plan, environment, template }: Running<DeploymentPlan>) {
    super(scope, id, {
      metadata: objectMeta(plan, environment),
      spec: {
        replicas: plan.replicas,
        minReadySeconds: plan.minReadySeconds,
        progressDeadlineSeconds: plan.progressDeadlineSeconds,
        strategy: updateStrategy(plan.update),
        selector: { matchLabels: selectorLabels(environment, plan.service) },
        template,
      },
    })
    this.#template = template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

/** A service that has volumes: its Pods have names and are replaced one after the other. */
export class ServiceStatefulSet extends k8s.KubeStatefulSet {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, { plan, environment, template }: Running<StatefulSetPlan>) {
    super(scope, id, {
      metadata: objectMeta(plan, environment),
      spec: {
        serviceName: plan.serviceName,
        replicas: plan.replicas,
        minReadySeconds: plan.minReadySeconds,
        updateStrategy: updateStrategy(plan.update),
        selector: { matchLabels: selectorLabels(environment, plan.service) },
        template,
        volumeClaimTemplates: plan.claimTemplates.length
          ? plan.claimTemplates.map(claim => claimTemplate(claim, plan, environment))
          : undefined,
      },
    })
    this.#template = template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

/** A service that runs once on every node. */
export class ServiceDaemonSet extends k8s.KubeDaemonSet {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, { plan, environment, template }: Running<DaemonSetPlan>) {
    super(scope, id, {
      metadata: objectMeta(plan, environment),
      spec: {
        minReadySeconds: plan.minReadySeconds,
        updateStrategy: updateStrategy(plan.update),
        selector: { matchLabels: selectorLabels(environment, plan.service) },
        template,
      },
    })
    this.#template = template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

/** A service that runs to its end. `name` is the one with the hash. */
export class ServiceJob extends k8s.KubeJob {
  readonly #template: PodTemplate

  constructor(
    scope: Construct,
    id: string,
    { plan, environment, template, name }: Running<JobPlan> & { readonly name: string },
  ) {
    super(scope, id, {
      metadata: objectMeta(plan, environment, name),
      spec: {
        backoffLimit: plan.backoffLimit,
        completions: plan.completions,
        parallelism: plan.completions,
        template,
      },
    })
    this.#template = template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

/** StatefulSets and DaemonSets call it `updateStrategy`; the shape is the same. Undefined leaves it to Kubernetes: rolling. */
function updateStrategy(
  update: RollingUpdate | { readonly type: 'Recreate' | 'OnDelete' } | undefined,
): k8s.DeploymentStrategy | undefined {
  if (update?.type !== 'RollingUpdate') return update && { type: update.type }
  const { type, maxSurge, maxUnavailable } = update
  if (maxSurge === undefined && maxUnavailable === undefined) return { type }
  return { type, rollingUpdate: { maxSurge: intOrString(maxSurge), maxUnavailable: intOrString(maxUnavailable) } }
}

function intOrString(value: number | string | undefined): k8s.IntOrString | undefined {
  if (value === undefined) return undefined
  return typeof value === 'number' ? k8s.IntOrString.fromNumber(value) : k8s.IntOrString.fromString(value)
}

/** Claim templates are immutable: only labels that never change are in them. */
function claimTemplate(
  claim: ClaimSpec,
  plan: StatefulSetPlan,
  environment: Environment,
): k8s.KubePersistentVolumeClaimProps {
  return {
    metadata: {
      name: claim.name,
      labels: standardLabels(environment, plan.service),
      annotations: annotations(claim.annotations),
    },
    spec: toClaimSpec(claim),
  }
}

/** A rendered workload with those fields of its Pod template that are newer than the typed classes. cdk8s types it as any map. */
function withNewerFields<T extends { spec: { template: Record<string, unknown> } }>(
  workload: T,
  template: PodTemplate,
): T {
  addNewerFields(workload.spec.template, template)
  return workload
}
