import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { ContainerPlan } from '../../compiler/plan/plan.ts'

/** Returns the requests and limits of a container; undefined if there are none. */
export function toResources(plan: ContainerPlan['resources']): k8s.ResourceRequirements | undefined {
  const requests = quantities(plan?.requests)
  const limits = quantities(plan?.limits)
  return requests || limits ? { requests, limits } : undefined
}

function quantities(amounts: Readonly<Record<string, string>> | undefined): Record<string, k8s.Quantity> | undefined {
  const entries = Object.entries(amounts ?? {})
  if (entries.length === 0) return undefined
  return Object.fromEntries(entries.map(([name, amount]) => [name, k8s.Quantity.fromString(amount)]))
}
