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
 * A container of a Pod. Words and values of the plan are literal; they are escaped here where
 * Kubernetes would expand them.
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
 * An init container that runs beside the others until they end, and which they wait for when it has
 * a startup probe.
 */
export function toSidecar(plan: ContainerPlan): Container {
  return { ...toContainer(plan), restartPolicy: 'Always' }
}

/**
 * The API server drops an empty value, and a second field manager that writes it then conflicts
 * with the first one.
 */
function toVariable({ name, value, secret }: EnvPlan): k8s.EnvVar {
  if (secret) return { name, valueFrom: { secretKeyRef: secret } }
  return value === '' ? { name } : { name, value: escapeDollars(value) }
}

/** An empty list means "not set" to Kubernetes, so it is not written. */
function words(list: readonly string[] | undefined): string[] | undefined {
  return list?.length ? list.map(word => (isArgumentReference(word) ? word : escapeDollars(word))) : undefined
}

function toPort(plan: ContainerPort): k8s.ContainerPort {
  // The protocol is part of a port's identity, so it is written where it is the default, too.
  return { name: plan.name, containerPort: plan.port, protocol: plan.protocol, hostPort: plan.hostPort }
}

/** Hooks are handed to the container as they are: Kubernetes does not expand them. */
function toLifecycle(plan: ContainerPlan): k8s.Lifecycle | undefined {
  if (!plan.postStart && !plan.preStop) return undefined
  return {
    postStart: plan.postStart && { exec: { command: [...plan.postStart] } },
    preStop: plan.preStop && { exec: { command: [...plan.preStop] } },
  }
}
