import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { ProbePlan } from '../../compiler/plan/plan.ts'
import { escapeDollars } from './escape.ts'

/** Converts a probe of a container. Kubernetes' defaults apply to fields that the plan does not set. */
export function toProbe(plan: ProbePlan | undefined): k8s.Probe | undefined {
  if (!plan) return undefined
  return {
    ...check(plan.check),
    initialDelaySeconds: plan.initialDelaySeconds,
    periodSeconds: plan.periodSeconds,
    timeoutSeconds: plan.timeoutSeconds,
    failureThreshold: plan.failureThreshold,
  }
}

function check(plan: ProbePlan['check']): k8s.Probe {
  switch (plan.kind) {
    case 'exec':
      return { exec: { command: plan.command.map(escapeDollars) } }
    case 'http':
      return { httpGet: { path: plan.path, port: k8s.IntOrString.fromNumber(plan.port) } }
    case 'tcp':
      return { tcpSocket: { port: k8s.IntOrString.fromNumber(plan.port) } }
  }
}
