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
  WorkloadPlan,
} from '../compiler/plan/plan.ts'
import { annotations, objectMeta, selectorLabels, standardLabels } from './labels.ts'
import { addPiece } from './piece.ts'
import { addMaps, addNewerFields, type PodTemplate, withoutMaps } from './pod/newer-fields.ts'
import { toClaimSpec } from './pod/volumes.ts'

/** Input that the workload constructs share: the plan, its environment and the template of the Pods. */
interface Running<P> {
  readonly plan: P
  readonly environment: Environment
  readonly template: PodTemplate
}

/** A Deployment for a service with interchangeable Pods. */
export class ServiceDeployment extends k8s.KubeDeployment {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, running: Running<DeploymentPlan>) {
    super(scope, id, deploymentProps(running))
    this.#template = running.template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

function deploymentProps({ plan, environment, template }: Running<DeploymentPlan>): k8s.KubeDeploymentProps {
  return {
    metadata: objectMeta(plan, environment),
    spec: {
      replicas: plan.replicas,
      minReadySeconds: plan.minReadySeconds,
      progressDeadlineSeconds: plan.progressDeadlineSeconds,
      strategy: updateStrategy(plan.update),
      selector: { matchLabels: selectorLabels(environment, plan.service) },
      template,
    },
  }
}

/** A StatefulSet for a service with volumes. Its Pods have stable names and are replaced one after the other. */
export class ServiceStatefulSet extends k8s.KubeStatefulSet {
  readonly #template: PodTemplate
  readonly #claims: readonly ClaimSpec[]

  constructor(scope: Construct, id: string, running: Running<StatefulSetPlan>) {
    super(scope, id, statefulSetProps(running))
    this.#template = running.template
    this.#claims = running.plan.claimTemplates
  }

  override toJson() {
    return withTypedClaims(withNewerFields(super.toJson(), this.#template), this.#claims)
  }
}

function statefulSetProps({ plan, environment, template }: Running<StatefulSetPlan>): k8s.KubeStatefulSetProps {
  return {
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
  }
}

/** A DaemonSet for a service with one Pod on every node. */
export class ServiceDaemonSet extends k8s.KubeDaemonSet {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, running: Running<DaemonSetPlan>) {
    super(scope, id, daemonSetProps(running))
    this.#template = running.template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

function daemonSetProps({ plan, environment, template }: Running<DaemonSetPlan>): k8s.KubeDaemonSetProps {
  return {
    metadata: objectMeta(plan, environment),
    spec: {
      minReadySeconds: plan.minReadySeconds,
      updateStrategy: updateStrategy(plan.update),
      selector: { matchLabels: selectorLabels(environment, plan.service) },
      template,
    },
  }
}

/** A Job for a service that runs to completion. `name` includes the hash of the Job's content. */
export class ServiceJob extends k8s.KubeJob {
  readonly #template: PodTemplate

  constructor(scope: Construct, id: string, running: Running<JobPlan> & { readonly name: string }) {
    super(scope, id, jobProps(running))
    this.#template = running.template
  }

  override toJson() {
    return withNewerFields(super.toJson(), this.#template)
  }
}

function jobProps({
  plan,
  environment,
  template,
  name,
}: Running<JobPlan> & { readonly name: string }): k8s.KubeJobProps {
  return {
    metadata: objectMeta(plan, environment, name),
    spec: {
      backoffLimit: plan.backoffLimit,
      completions: plan.completions,
      parallelism: plan.completions,
      template,
    },
  }
}

/** Returns the JSON of a workload, without a chart. For a Job, `name` includes the hash of the Job's content. */
export function workloadJson(
  plan: WorkloadPlan,
  environment: Environment,
  template: PodTemplate,
  name: string,
): object {
  const json = typedJson(plan, environment, withoutMaps(template), name)
  addMaps(json.spec.template, template.metadata)
  return withNewerFields(json, template)
}

function typedJson(plan: WorkloadPlan, environment: Environment, template: PodTemplate, name: string) {
  switch (plan.kind) {
    case 'Deployment':
      return k8s.KubeDeployment.manifest(deploymentProps({ plan, environment, template }))
    case 'StatefulSet':
      return withTypedClaims(
        k8s.KubeStatefulSet.manifest(statefulSetProps({ plan, environment, template })),
        plan.claimTemplates,
      )
    case 'DaemonSet':
      return k8s.KubeDaemonSet.manifest(daemonSetProps({ plan, environment, template }))
    case 'Job':
      return k8s.KubeJob.manifest(jobProps({ plan, environment, template, name }))
  }
}

/**
 * Returns the update strategy; undefined for Kubernetes' default, a rolling update. StatefulSets and DaemonSets call
 * the field `updateStrategy`, with the same structure.
 */
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

/** Returns a claim template. Claim templates are immutable, so they contain only labels that never change. */
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
    spec: { ...toClaimSpec(claim), volumeMode: 'Filesystem' },
  }
}

/**
 * Adds the fields from `x-kubernetes` to claim templates, and `apiVersion` and `kind`, which the typed class does not
 * render. The API server adds defaults such as these two fields and the volume mode. Because controllers compare the
 * list as a whole, missing defaults would count as drift.
 */
function withTypedClaims<T extends { spec: { volumeClaimTemplates?: readonly object[] } }>(
  statefulSet: T,
  claims: readonly ClaimSpec[],
): T {
  const { spec } = statefulSet
  if (spec.volumeClaimTemplates)
    spec.volumeClaimTemplates = spec.volumeClaimTemplates.map((claim, index) => {
      const typed = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', ...claim }
      addPiece(typed, claims[index]?.piece)
      return typed
    })
  return statefulSet
}

/**
 * Returns a rendered workload with the fields of its Pod template that the typed classes do not support. cdk8s returns
 * an untyped map.
 */
function withNewerFields<T extends { spec: { template: Record<string, unknown> } }>(
  workload: T,
  template: PodTemplate,
): T {
  addNewerFields(workload.spec.template, template)
  return workload
}
