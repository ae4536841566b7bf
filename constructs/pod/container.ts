import type * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { ContainerPlan, ContainerPort, EnvPlan } from '../../compiler/plan/plan.ts'
import { isArgumentReference } from '../../compiler/values/dockerfile/argument-variables.ts'
import { escapeDollars } from './escape.ts'
import { toVolumeMount } from './mounts.ts'
import type { Container } from './newer-fields.ts'
import { toProbe } from './probes.ts'
import { toResources } from './resources.ts'
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
 * Converts an init container to a sidecar, which runs next to the other containers until they end. They wait for it to
 * start if it has a startup probe.
 */
export function toSidecar(plan: ContainerPlan): Container {
  return { ...toContainer(plan), restartPolicy: 'Always' }
}

/**
 * Converts a variable. An empty value is left out, because the API server drops it, and a second field manager that
 * writes it would then conflict with the first one.
 */
function toVariable({ name, value, secret }: EnvPlan): k8s.EnvVar {
  if (secret) return { name, valueFrom: { secretKeyRef: secret } }
  return value === '' ? { name } : { name, value: escapeDollars(value) }
}

/** Converts a list of arguments. An empty list is left out, because it means "not set" to Kubernetes. */
function words(list: readonly string[] | undefined): string[] | undefined {
  return list?.length ? list.map(word => (isArgumentReference(word) ? word : escapeDollars(word))) : undefined
}

function toPort(plan: ContainerPort): k8s.ContainerPort {
  // The protocol is part of a port's identity, so it is written even if it is the default.
  return { name: plan.name, containerPort: plan.port, protocol: plan.protocol, hostPort: plan.hostPort }
}

/** Converts lifecycle hooks. They are not escaped, because Kubernetes does not expand them. */
function toLifecycle(plan: ContainerPlan): k8s.Lifecycle | undefined {
  if (!plan.postStart && !plan.preStop) return undefined
  return {
    postStart: plan.postStart && { exec: { command: [...plan.postStart] } },
    preStop: plan.preStop && { exec: { command: [...plan.preStop] } },
  }
}
