import type * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { ContainerSecurity, PodPlan } from '../../compiler/plan/plan.ts'
import type { NewerSecurityContext } from './newer-fields.ts'

/** Returns the security context of a Pod. Sets the default seccomp profile, as container engines do. */
export function toPodSecurityContext(plan: PodPlan): k8s.PodSecurityContext {
  return {
    fsGroup: plan.fsGroup,
    runAsNonRoot: plan.runAsNonRoot,
    seccompProfile: { type: 'RuntimeDefault' },
    supplementalGroups: nonEmpty(plan.supplementalGroups),
    sysctls: nonEmpty(plan.sysctls?.map(({ name, value }) => ({ name, value }))),
  }
}

/** Returns the security context of a container; undefined if it has no settings. */
export function toSecurityContext(plan: ContainerSecurity | undefined): NewerSecurityContext | undefined {
  if (!plan) return undefined
  const add = nonEmpty(plan.capabilities?.add)
  const drop = nonEmpty(plan.capabilities?.drop)
  const context: NewerSecurityContext = {
    runAsUser: plan.runAsUser,
    runAsGroup: plan.runAsGroup,
    runAsNonRoot: plan.runAsNonRoot,
    privileged: plan.privileged,
    readOnlyRootFilesystem: plan.readOnlyRootFilesystem,
    allowPrivilegeEscalation: plan.allowPrivilegeEscalation,
    capabilities: add || drop ? { add, drop } : undefined,
    seccompProfile: plan.seccompProfile && { ...plan.seccompProfile },
    appArmorProfile: plan.appArmorProfile && { ...plan.appArmorProfile },
    seLinuxOptions: plan.seLinuxOptions && { ...plan.seLinuxOptions },
    procMount: plan.procMount,
  }
  return Object.values(context).some(value => value !== undefined) ? context : undefined
}

function nonEmpty<T>(list: readonly T[] | undefined): T[] | undefined {
  return list?.length ? [...list] : undefined
}
