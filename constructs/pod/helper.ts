import { createHash } from 'node:crypto'
import type { ContainerMount, ContainerPlan, ContainerSecurity, PodPlan } from '../../compiler/plan/plan.ts'

/** Names that containers and volumes of a Pod already use. Helpers get other names. */
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

/**
 * Returns a free name and adds it to `taken`: `wanted`, or `wanted-2` and so on if it is taken, truncated to a DNS
 * label.
 */
export function takeName(wanted: string, taken: Set<string>): string {
  const base = dnsLabel(wanted)
  let name = base
  for (let number = 2; taken.has(name); number++) name = `${base.slice(0, 63 - `-${number}`.length)}-${number}`
  taken.add(name)
  return name
}

/** Returns a helper container of devctl, in most cases an init container. */
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
 * Returns the security context of helpers; undefined if the Pod may run as root, which is the default user of the
 * helpers' images. If the Pod may not run as root, helpers run as the user `nobody`, with the settings that the
 * restricted level of the Pod Security Standards requires of each container.
 */
export function helperSecurity(plan: Pick<PodPlan, 'runAsNonRoot'>): ContainerSecurity | undefined {
  if (!plan.runAsNonRoot) return undefined
  return { runAsUser: 65534, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
}

/**
 * Returns a container name, which is a DNS label of at most 63 characters. A longer name is truncated and ends in a
 * hash of the full name.
 */
function dnsLabel(name: string): string {
  if (name.length <= 63) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, 63 - 9).replace(/-+$/, '')}-${hash}`
}
