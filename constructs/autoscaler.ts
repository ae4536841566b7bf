import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { AutoscalerPlan, Environment } from '../compiler/plan/plan.ts'
import { objectMeta } from './labels.ts'

/** A HorizontalPodAutoscaler that sets the number of Pods of a workload. */
export class WorkloadAutoscaler extends k8s.KubeHorizontalPodAutoscalerV2 {
  constructor(scope: Construct, id: string, { plan, environment }: { plan: AutoscalerPlan; environment: Environment }) {
    super(scope, id, autoscalerProps(plan, environment))
  }
}

/** Returns the JSON of a HorizontalPodAutoscaler, without a chart. */
export function autoscalerJson(plan: AutoscalerPlan, environment: Environment): object {
  return k8s.KubeHorizontalPodAutoscalerV2.manifest(autoscalerProps(plan, environment))
}

function autoscalerProps(plan: AutoscalerPlan, environment: Environment): k8s.KubeHorizontalPodAutoscalerV2Props {
  return {
    metadata: objectMeta(plan, environment),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: plan.target.kind, name: plan.target.name },
      minReplicas: plan.min,
      maxReplicas: plan.max,
      metrics: [...metric('cpu', plan.cpu), ...metric('memory', plan.memory)],
    },
  }
}

const metric = (name: string, averageUtilization: number | undefined): k8s.MetricSpecV2[] =>
  averageUtilization === undefined
    ? []
    : [{ type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } }]
