import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { ContainerMount, ContainerPlan, ContainerPort, EnvPlan, ProbePlan } from '../../compiler/plan/plan.ts'
import { isArgumentReference } from '../../compiler/values/dockerfile/argument-variables.ts'
import { escapeDollars } from './escape-dollars.ts'
import type { Container, NewerVolumeMount } from './newer-fields.ts'
import { toSecurityContext } from './security.ts'

/**
 * Converts a container of a plan. Arguments and values in the plan are literal, and are escaped here if Kubernetes
 * would expand them.
 */
export function toContainer(plan: ContainerPlan): Container {
  return {
    name: plan.name,
    image: plan.image,
    imagePullPolicy: plan.imagePullPolicy,
    command: words(plan.command),
    args: words(plan.args),
    workingDir: plan.workingDir,
    env: plan.env.length ? plan.env.map(toVariable) : undefined,
    ports: plan.ports.length ? plan.ports.map(toPort) : undefined,
    readinessProbe: toProbe(plan.readinessProbe),
    livenessProbe: toProbe(plan.livenessProbe),
    startupProbe: toProbe(plan.startupProbe),
    lifecycle: toLifecycle(plan),
    resources: toResources(plan.resources),
    securityContext: toSecurityContext(plan.security),
    stdin: plan.stdin || undefined,
    tty: plan.tty || undefined,
    volumeMounts: plan.mounts.length ? plan.mounts.map(toVolumeMount) : undefined,
  }
}

/**
 * Converts an init container to a sidecar, which runs next to the other containers until they end. If the sidecar has a
 * startup probe, the other containers start after it has succeeded.
 */
export function toSidecar(plan: ContainerPlan): Container {
  return { ...toContainer(plan), restartPolicy: 'Always' }
}

/**
 * Converts a variable. Omits an empty value, because the API server drops it, and a second field manager that writes it
 * would then conflict with the first one.
 */
function toVariable({ name, value, secret, config }: EnvPlan): k8s.EnvVar {
  if (secret) return { name, valueFrom: { secretKeyRef: secret } }
  if (config) return { name, valueFrom: { configMapKeyRef: config } }
  return value === '' ? { name } : { name, value: escapeDollars(value) }
}

/** Converts a list of arguments. Returns undefined for an empty list, which would mean "not set" to Kubernetes. */
function words(list: readonly string[] | undefined): string[] | undefined {
  return list?.length ? list.map(word => (isArgumentReference(word) ? word : escapeDollars(word))) : undefined
}

function toPort(plan: ContainerPort): k8s.ContainerPort {
  // The protocol is part of a port's identity, so it is written even if it is the default.
  return { name: plan.name, containerPort: plan.port, protocol: plan.protocol, hostPort: plan.hostPort }
}

/** Converts a probe of a container. Kubernetes' defaults apply to fields that the plan does not set. */
function toProbe(plan: ProbePlan | undefined): k8s.Probe | undefined {
  if (!plan) return undefined
  return {
    ...toCheck(plan.check),
    initialDelaySeconds: plan.initialDelaySeconds,
    periodSeconds: plan.periodSeconds,
    timeoutSeconds: plan.timeoutSeconds,
    failureThreshold: plan.failureThreshold,
  }
}

function toCheck(plan: ProbePlan['check']): k8s.Probe {
  switch (plan.kind) {
    case 'exec':
      return { exec: { command: plan.command.map(escapeDollars) } }
    case 'http':
      return { httpGet: { path: plan.path, port: k8s.IntOrString.fromNumber(plan.port) } }
    case 'tcp':
      return { tcpSocket: { port: k8s.IntOrString.fromNumber(plan.port) } }
  }
}

/** Converts lifecycle hooks. They are not escaped, because Kubernetes does not expand them. */
function toLifecycle(plan: ContainerPlan): k8s.Lifecycle | undefined {
  if (!plan.postStart && !plan.preStop) return undefined
  return {
    postStart: plan.postStart && { exec: { command: [...plan.postStart] } },
    preStop: plan.preStop && { exec: { command: [...plan.preStop] } },
  }
}

/** Returns the requests and limits of a container; undefined if there are none. */
function toResources(plan: ContainerPlan['resources']): k8s.ResourceRequirements | undefined {
  const requests = quantities(plan?.requests)
  const limits = quantities(plan?.limits)
  return requests || limits ? { requests, limits } : undefined
}

function quantities(amounts: Readonly<Record<string, string>> | undefined): Record<string, k8s.Quantity> | undefined {
  const entries = Object.entries(amounts ?? {})
  if (entries.length === 0) return undefined
  return Object.fromEntries(entries.map(([name, amount]) => [name, k8s.Quantity.fromString(amount)]))
}

/** Returns the volume mount of a container. `readOnly` is written only when it is true. */
function toVolumeMount(plan: ContainerMount): NewerVolumeMount {
  return {
    name: plan.volume,
    mountPath: plan.path,
    subPath: plan.subPath,
    readOnly: plan.readOnly || undefined,
    mountPropagation: plan.propagation,
    recursiveReadOnly: plan.recursiveReadOnly ? 'Enabled' : undefined,
  }
}
