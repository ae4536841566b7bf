import type { ContainerMount, ContainerPlan, EnvPlan } from '../../compiler/plan/plan.ts'
import { toContainer } from '../pod/container.ts'
import { podTemplateJson } from '../pod/newer-fields.ts'
import { compact, type Json, listIn, mapIn, mergeBy } from './json.ts'
import { HOLD_COMMAND, runCommand } from './scripts.ts'
import type { ContainerSettings, HookSettings, MirrorSettings, SecuritySettings } from './settings.ts'

/** Parts of a development container that come from its Pod. */
export interface PodParts {
  readonly mounts: readonly ContainerMount[]
  /** The variables that the settings add. */
  readonly env: readonly EnvPlan[]
  readonly runs: 'hold' | 'command'
  /** The file that says that the application may start, where nothing else holds it back. */
  readonly ready?: string
}

type Kept = Partial<Pick<MirrorSettings, 'probes' | 'lifecycle' | 'security'>>

/** A container of the application with what the settings change in it; unknown fields stay. */
export function developContainer(live: Json, settings: ContainerSettings & Kept, around: PodParts): Json {
  const own = lowered(live, settings, around)
  const { command: _, args: __, ...kept } = withoutProbes(live, settings)
  return compact({
    ...kept,
    ...own,
    ...words(live, settings, around),
    // The runtime would create it where it does not exist; commands go there by themselves, and say so.
    workingDir: (around.runs === 'hold' ? undefined : settings.workdir) ?? live['workingDir'],
    env: mergeBy('name', distinct(listIn(live, 'env'), 'name'), listIn(own, 'env')),
    ports: distinct(listIn(live, 'ports'), 'containerPort', 'protocol'),
    volumeMounts: mergeBy('mountPath', listIn(live, 'volumeMounts'), listIn(own, 'volumeMounts')),
    resources: resources(mapIn(live, 'resources'), settings.resources),
    securityContext: security(mapIn(live, 'securityContext'), settings.security),
    lifecycle: settings.lifecycle && lifecycle(mapIn(live, 'lifecycle'), settings.lifecycle),
  })
}

/** The plain JSON of containers that are planned as those of a compiled application are. */
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
 * Process 1 and its words. Those of the cluster have Kubernetes' `$(NAME)` in them, and go as they
 * are; an image's own command is not known, so it is left to the image.
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
 * A resource that the settings name is theirs, request and limit: a request above the limit that
 * the application has would be refused.
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

/** Field by field; capabilities are added to those of the application. */
function security(live: Json, settings: SecuritySettings | undefined): Json {
  if (!settings) return live
  const { capabilities, fsGroup: _, ...fields } = settings
  const both = (part: 'add' | 'drop') => [
    ...new Set([...list(mapIn(live, 'capabilities')[part]), ...capabilities[part]]),
  ]
  return compact({ ...live, ...fields, capabilities: compact({ add: both('add'), drop: both('drop') }) })
}

const list = (value: unknown): readonly string[] => (value ?? []) as readonly string[] // of Kubernetes' structures

/** Server-side apply takes one item of a key; of those that a plain write let in, the last counts. */
function distinct(items: readonly Json[], ...keys: readonly string[]): readonly Json[] {
  const found = new Map(
    items.map(item => [keys.map(key => item[key] ?? (key === 'protocol' ? 'TCP' : '')).join('/'), item]),
  )
  return [...found.values()]
}
