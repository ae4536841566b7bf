import type { ContainerMount, ContainerPlan, EnvPlan } from '../../compiler/plan/plan.ts'
import { toContainer } from '../pod/container.ts'
import { podTemplateJson } from '../pod/newer-fields.ts'
import { compact, type Json, listIn, mapIn, mergeBy } from './json.ts'
import { HOLD_COMMAND, runCommand } from './scripts.ts'
import type { ContainerSettings, HookSettings, MirrorSettings, SecuritySettings } from './settings.ts'

/** Parts of a development container that depend on its Pod. */
export interface PodParts {
  readonly mounts: readonly ContainerMount[]
  /** Variables from the settings, which are added to the variables of the application's container or replace them. */
  readonly env: readonly EnvPlan[]
  readonly runs: 'hold' | 'command'
  /** Path of a file that has to exist before the application may start; absent if init containers delay the start. */
  readonly ready?: string
}

type Kept = Partial<Pick<MirrorSettings, 'probes' | 'lifecycle' | 'security'>>

/**
 * Returns the development container: a container of the application with the changes in the settings. Keeps fields that
 * devctl does not know.
 */
export function developContainer(live: Json, settings: ContainerSettings & Kept, around: PodParts): Json {
  const own = lowered(live, settings, around)
  const { command: _, args: __, ...kept } = withoutProbes(live, settings)
  return compact({
    ...kept,
    ...own,
    ...words(live, settings, around),
    // The runtime would create a missing working directory. In a container that only holds, each command changes to the
    // directory itself, and reports if it is missing.
    workingDir: (around.runs === 'hold' ? undefined : settings.workdir) ?? live['workingDir'],
    env: mergeBy('name', distinct(listIn(live, 'env'), 'name'), listIn(own, 'env')),
    ports: distinct(listIn(live, 'ports'), 'containerPort', 'protocol'),
    volumeMounts: mergeBy('mountPath', listIn(live, 'volumeMounts'), listIn(own, 'volumeMounts')),
    resources: resources(mapIn(live, 'resources'), settings.resources),
    securityContext: security(mapIn(live, 'securityContext'), settings.security),
    lifecycle: settings.lifecycle && lifecycle(mapIn(live, 'lifecycle'), settings.lifecycle),
  })
}

/** Returns the plain JSON of a container, rendered like the containers of a compiled application. */
export function containerJson(plan: ContainerPlan, more: { readonly restartPolicy?: 'Always' } = {}): Json {
  const json = podTemplateJson({ metadata: {}, spec: { containers: [{ ...toContainer(plan), ...more }] } })
  return JSON.parse(JSON.stringify(listIn(mapIn(json, 'spec'), 'containers')[0]))
}

function lowered(live: Json, settings: ContainerSettings, { mounts, env }: PodParts): Json {
  const { name, image, imagePullPolicy } = live as { name: string; image: string; imagePullPolicy?: string } // a container's
  const changed = settings.image !== undefined
  const json = containerJson({
    name,
    image: settings.image ?? image,
    imagePullPolicy: settings.imagePullPolicy ?? 'IfNotPresent',
    env,
    ports: [],
    mounts,
  })
  if (changed || settings.imagePullPolicy !== undefined) return json
  return { ...json, imagePullPolicy }
}

/**
 * Returns the fields `command` and `args` for process 1. A command from the cluster is used unchanged, because it
 * contains Kubernetes' `$(NAME)` references. If only the image defines a command, which is unknown at this point, the
 * fields do not override it.
 */
function words(live: Json, settings: ContainerSettings, { runs, ready }: PodParts): Json {
  if (runs === 'hold') return { command: HOLD_COMMAND }
  const own = containerJson({ ...NO_CONTAINER, ...present({ command: settings.command, args: settings.args }) })
  const command = own['command'] ?? live['command']
  const args = own['args'] ?? (settings.command === undefined ? live['args'] : undefined)
  if (command === undefined) return { args }
  return { command: [...runCommand(ready), ...(command as string[]), ...((args ?? []) as string[])] } // lists of words
}

const NO_CONTAINER: ContainerPlan = { name: '', image: '', imagePullPolicy: 'Always', env: [], ports: [], mounts: [] }

const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }

function withoutProbes(live: Json, { probes }: Kept): Json {
  const gone = (['liveness', 'readiness', 'startup'] as const).filter(name => !probes?.[name])
  const fields = new Set(gone.map(name => `${name}Probe`))
  return Object.fromEntries(Object.entries(live).filter(([field]) => !fields.has(field)))
}

function lifecycle(live: Json, { postStart, preStop }: MirrorSettings['lifecycle']): Json {
  return compact({ ...live, postStart: hook(live['postStart'], postStart), preStop: hook(live['preStop'], preStop) })
}

function hook(live: unknown, { enabled, command }: HookSettings): unknown {
  if (!enabled) return undefined
  return command ? { exec: { command: [...command] } } : live
}

/**
 * Merges resources. A resource in the settings replaces both the request and the limit of the application, because a
 * new request above the old limit would be refused.
 */
export function resources(live: Json, { requests, limits }: ContainerSettings['resources']): Json {
  const named = new Set([...Object.keys(requests), ...Object.keys(limits)])
  const rest = (part: string) => Object.entries(mapIn(live, part)).filter(([name]) => !named.has(name))
  return compact({
    ...live,
    requests: { ...Object.fromEntries(rest('requests')), ...requests },
    limits: { ...Object.fromEntries(rest('limits')), ...limits },
  })
}

/** Merges security settings field by field. Capabilities are added to those of the application. */
function security(live: Json, settings: SecuritySettings | undefined): Json {
  if (!settings) return live
  const { capabilities, fsGroup: _, ...fields } = settings
  const both = (part: 'add' | 'drop') => [
    ...new Set([...list(mapIn(live, 'capabilities')[part]), ...capabilities[part]]),
  ]
  return compact({ ...live, ...fields, capabilities: compact({ add: both('add'), drop: both('drop') }) })
}

const list = (value: unknown): readonly string[] => (value ?? []) as readonly string[] // of Kubernetes' structures

/**
 * Removes items with duplicate keys, which server-side apply does not accept; an earlier update may have introduced
 * them. Keeps the last item of each key.
 */
function distinct(items: readonly Json[], ...keys: readonly string[]): readonly Json[] {
  const found = new Map(
    items.map(item => [keys.map(key => item[key] ?? (key === 'protocol' ? 'TCP' : '')).join('/'), item]),
  )
  return [...found.values()]
}
