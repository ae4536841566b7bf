import { createHash } from 'node:crypto'
import type { ContainerMount, ContainerPlan, ContainerSecurity, PodPlan } from '../../compiler/plan/plan.ts'

/** The names that a Pod's containers and volumes already have; helpers take what is left. */
export interface TakenNames {
  readonly containers: Set<string>
  readonly volumes: Set<string>
}

export function takenNames(plan: PodPlan): TakenNames {
  return {
    containers: new Set([...plan.containers, ...plan.init].map(({ name }) => name)),
    volumes: new Set(plan.volumes.map(({ name }) => name)),
  }
}

/** `wanted`, or `wanted-2` and so on when it is taken, cut to a DNS label. Takes the name. */
export function takeName(wanted: string, taken: Set<string>): string {
  const base = dnsLabel(wanted)
  let name = base
  for (let number = 2; taken.has(name); number++) name = `${base.slice(0, 63 - `-${number}`.length)}-${number}`
  taken.add(name)
  return name
}

/** A container of ours that runs before the application's own ones. */
export function helperContainer(helper: {
  readonly name: string
  readonly image: string
  readonly imagePullPolicy?: ContainerPlan['imagePullPolicy']
  readonly command: readonly string[]
  readonly mounts?: readonly ContainerMount[]
  readonly security?: ContainerSecurity | undefined
}): ContainerPlan {
  return {
    name: helper.name,
    image: helper.image,
    imagePullPolicy: helper.imagePullPolicy ?? 'IfNotPresent',
    command: helper.command,
    env: [],
    ports: [],
    mounts: helper.mounts ?? [],
    security: helper.security,
  }
}

/**
 * Returns the security context of helpers if the Pod may not run as root, as their images would: the user `nobody`, and
 * the settings that the restricted level of the Pod Security Standards requires of each container.
 */
export function helperSecurity(plan: Pick<PodPlan, 'runAsNonRoot'>): ContainerSecurity | undefined {
  if (!plan.runAsNonRoot) return undefined
  return { runAsUser: 65534, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
}

/**
 * Containers are named by DNS labels of at most 63 characters; what is longer ends in a hash of the
 * whole.
 */
function dnsLabel(name: string): string {
  if (name.length <= 63) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, 63 - 9).replace(/-+$/, '')}-${hash}`
}
