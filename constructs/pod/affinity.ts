import type * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { NodeRequirement, PodPlan } from '../../compiler/plan/plan.ts'

/** Labels of all Pods of an environment, and labels of the Pods of one workload. */
export interface PodIdentity {
  readonly environment: Readonly<Record<string, string>>
  readonly workload: Readonly<Record<string, string>>
}

/** Returns the affinity of a Pod, which consists of required rules only; undefined if the Pod needs no rule. */
export function toAffinity(
  plan: Pick<PodPlan, 'nodeRequirements' | 'colocate' | 'spreadOut'>,
  identity: PodIdentity,
): k8s.Affinity | undefined {
  const { nodeRequirements = [], colocate = [], spreadOut } = plan
  if (!nodeRequirements.length && !colocate.length && !spreadOut) return undefined
  return {
    nodeAffinity: nodeRequirements.length
      ? { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [nodeSelectorTerm(nodeRequirements)] } }
      : undefined,
    podAffinity: colocate.length
      ? {
          // The scheduler accepts the first Pod with such a rule because it matches its own rule.
          requiredDuringSchedulingIgnoredDuringExecution: colocate.map(label =>
            onOneNode({ ...identity.environment, [label]: 'true' }),
          ),
        }
      : undefined,
    podAntiAffinity: spreadOut
      ? { requiredDuringSchedulingIgnoredDuringExecution: [onOneNode(identity.workload)] }
      : undefined,
  }
}

/** Returns constraints that spread a workload's Pods over the values of node labels, on a best-effort basis. */
export function toTopologySpread(plan: PodPlan, identity: PodIdentity): k8s.TopologySpreadConstraint[] | undefined {
  if (!plan.topologyKeys?.length) return undefined
  return plan.topologyKeys.map(topologyKey => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: { ...identity.workload } },
  }))
}

function onOneNode(matchLabels: Readonly<Record<string, string>>): k8s.PodAffinityTerm {
  return { labelSelector: { matchLabels: { ...matchLabels } }, topologyKey: 'kubernetes.io/hostname' }
}

/**
 * Returns a single term with all requirements. A node has to meet all expressions of one term, but only one of several
 * terms.
 */
function nodeSelectorTerm(requirements: readonly NodeRequirement[]): k8s.NodeSelectorTerm {
  const expressions = requirements.filter(({ field }) => !field).map(toRequirement)
  const fields = requirements.filter(({ field }) => field).map(toRequirement)
  return {
    matchExpressions: expressions.length ? expressions : undefined,
    matchFields: fields.length ? fields : undefined,
  }
}

function toRequirement({ key, operator, values }: NodeRequirement): k8s.NodeSelectorRequirement {
  return { key, operator, values: values?.length ? [...values] : undefined }
}
