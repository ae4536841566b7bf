import type { EnvPlan } from '../../compiler/plan/plan.ts'
import { toAffinity } from '../pod/affinity.ts'
import { containerJson, developContainer } from './container.ts'
import {
  givenGroup,
  hybridContainers,
  type MirrorVolume,
  syncContainers,
  syncMount,
  TOOLS_MOUNT,
} from './containers.ts'
import type { Detached } from './detach.ts'
import { waitingToolsContainer } from './fill.ts'
import { compact, type Json, listIn, mapIn, mergeBy } from './json.ts'
import { CODE_VOLUME, claimName, FILES_VOLUME, labelValue, RUN_VOLUME, TOOLS_VOLUME } from './names.ts'
import type { ContainerSettings, MirrorFacts, MirrorSettings } from './settings.ts'
import { identityOf, NOBODY, type RunsAs } from './user.ts'

/** Returns the Pod of a development container: the application's Pod with the agent and the changes in the settings. */
export function developPod(
  original: Detached,
  settings: MirrorSettings,
  facts: MirrorFacts,
  given: {
    readonly sync: MirrorVolume
    readonly secret: string
    readonly own: readonly MirrorVolume[]
    readonly env: readonly EnvPlan[]
  },
): Json {
  const { spec } = original
  const live = chosenContainer(spec, settings)
  const identity = settings.mode === 'hybrid' ? NOBODY_AT_ALL : identityOf(spec, live, settings, facts.user)
  const containers =
    settings.mode === 'hybrid'
      ? hybridContainers(live, settings, facts, identity, given.env)
      : syncContainers({ spec, live }, settings, facts, identity, given)
  return podSpec(spec, settings, {
    initContainers: [containers.tools, ...listIn(spec, 'initContainers'), ...containers.before],
    // The kubelet starts the containers in this order.
    containers: [...containers.beside, ...mergeBy('name', listIn(spec, 'containers'), [containers.own])],
    volumes: [
      given.sync,
      ...given.own,
      { name: RUN_VOLUME, emptyDir: { medium: 'Memory' } },
      { name: TOOLS_VOLUME, emptyDir: { medium: 'Memory' } },
      { name: CODE_VOLUME, secret: { secretName: given.secret, items: CODE_ITEMS } },
      ...(settings.mode === 'sync' ? ownVolumes(settings, given.secret) : []),
    ],
    fsGroup: settings.mode === 'hybrid' ? undefined : fsGroup(spec, settings, identity, given),
    colocate: colocation(settings, given.sync),
  })
}

/** Returns the Pod of an additional service, which shares the volume of the development container but has no agent. */
export function besidePod(
  original: Detached,
  service: ContainerSettings,
  settings: MirrorSettings,
  facts: MirrorFacts,
  { sync, env }: { readonly sync: MirrorVolume; readonly env: readonly EnvPlan[] },
): Json {
  const { spec } = original
  const live = chosenContainer(spec, service)
  const mounts = [...service.folders.map(syncMount), TOOLS_MOUNT]
  const own = developContainer(live, service, { mounts, env, runs: 'command' })
  return podSpec(spec, service, {
    initContainers: [containerJson(waitingToolsContainer(facts)), ...listIn(spec, 'initContainers')],
    containers: mergeBy('name', listIn(spec, 'containers'), [own]),
    volumes: [sync, { name: TOOLS_VOLUME, emptyDir: { medium: 'Memory' } }],
    colocate: colocation(settings, sync),
  })
}

/**
 * Returns the key of the label for Pods that must run on the same node, because they share a claim that only one node
 * can mount.
 */
export const volumeLabel = (development: string): string =>
  `dev.platform/${labelValue(`volume-${claimName(development)}`)}`

const CODE_ITEMS = ['agent.cjs.gz', 'session.json'].map(key => ({ key, path: key }))
const NOBODY_AT_ALL: RunsAs = { kind: 'known', user: NOBODY, rootAllowed: true }

/**
 * Returns the container that the settings name, or the first one. Throws an Error if no container has this name;
 * callers check for it before.
 */
export function chosenContainer(spec: Json, { container }: ContainerSettings): Json {
  const containers = listIn(spec, 'containers')
  const found = container === undefined ? containers[0] : containers.find(one => one['name'] === container)
  if (!found) throw new Error(`the application has no container ${container}`)
  return found
}

function podSpec(
  live: Json,
  settings: ContainerSettings & Partial<Pick<MirrorSettings, 'serviceAccount' | 'priorityClassName'>>,
  parts: {
    readonly initContainers: readonly Json[]
    readonly containers: readonly Json[]
    readonly volumes: readonly MirrorVolume[]
    readonly fsGroup?: number | undefined
    readonly colocate?: string | undefined
  },
): Json {
  const account = settings.serviceAccount
  return compact({
    ...live,
    ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
    // The priority class admission plugin recomputes `priority`, so the number of the previous class has to be removed.
    ...(settings.priorityClassName !== undefined && {
      priorityClassName: settings.priorityClassName,
      priority: undefined,
    }),
    nodeSelector: settings.nodeSelector ?? live['nodeSelector'],
    tolerations: [...listIn(live, 'tolerations'), ...settings.tolerations],
    affinity: affinity((settings.affinity ?? live['affinity']) as Json | undefined, parts.colocate), // as written
    securityContext: compact({
      // Otherwise the kubelet changes every file of the claim for each new Pod: all files count as changed in the
      // container, and are neither renewed from a new image nor told apart from those of the image.
      ...(parts.fsGroup !== undefined && { fsGroupChangePolicy: 'OnRootMismatch' }),
      ...mapIn(live, 'securityContext'),
      ...(parts.fsGroup !== undefined && { fsGroup: parts.fsGroup }),
    }),
    initContainers: parts.initContainers,
    containers: parts.containers,
    volumes: mergeBy('name', withoutReplaced(live, [...parts.initContainers, ...parts.containers]), parts.volumes),
  })
}

/** Kinds of volumes that contain copies of files. The names of these volumes change with the content of the files. */
const COPIES = ['configMap', 'secret', 'projected']

/**
 * Returns the volumes of the application, except volumes of copies whose files the container gets from the sync volume
 * instead. A deploy names such a volume by its content, so every change of a file would replace the mirror's Pod.
 */
function withoutReplaced(live: Json, containers: readonly Json[]): readonly Json[] {
  const before = mountedBy([...listIn(live, 'initContainers'), ...listIn(live, 'containers')])
  const now = mountedBy(containers)
  return listIn(live, 'volumes').filter(volume => {
    const name = String(volume['name'])
    return now.has(name) || !before.has(name) || !COPIES.some(kind => kind in volume)
  })
}

const mountedBy = (containers: readonly Json[]): ReadonlySet<string> =>
  new Set(containers.flatMap(one => listIn(one, 'volumeMounts')).map(({ name }) => String(name)))

/**
 * Returns the affinity `live` with an additional rule: Pods with the label `label`, which share a single-node claim,
 * run on the same node. Returns `live` unchanged if `label` is undefined.
 */
function affinity(live: Json | undefined, label: string | undefined): Json | undefined {
  if (label === undefined) return live
  const own = mapIn(
    toAffinity({ colocate: [label] }, { environment: {}, workload: {} }) as unknown as Json,
    'podAffinity',
  ) // plain JSON
  const there = mapIn(live, 'podAffinity')
  const field = 'requiredDuringSchedulingIgnoredDuringExecution'
  return { ...live, podAffinity: { ...there, [field]: [...listIn(there, field), ...listIn(own, field)] } }
}

function colocation(settings: MirrorSettings, sync: MirrorVolume): string | undefined {
  const shared = settings.services.length > 0 && 'persistentVolumeClaim' in sync
  return shared && settings.volume.accessMode !== 'ReadWriteMany' ? volumeLabel(settings.name) : undefined
}

function ownVolumes(settings: MirrorSettings, secret: string): readonly MirrorVolume[] {
  const items = settings.secrets.map(({ mode }, index) => ({ key: `file-${index}`, path: `file-${index}`, mode }))
  return [
    ...settings.externalVolumes.map(({ claim }, index) => ({
      name: `devctl-external-${index}`,
      persistentVolumeClaim: { claimName: claim },
    })),
    ...(items.length > 0 ? [{ name: FILES_VOLUME, secret: { secretName: secret, items } }] : []),
  ]
}

/**
 * Returns the `fsGroup` of the Pod: the group from the settings or the application. If neither sets a group and the
 * application refuses root, a new claim cannot be given to the user, so the Pod gets a group that is the same in every
 * session. Returns undefined if no group is needed. Also returns undefined if none is set and the Pod mounts claims of
 * the application, because the kubelet would change the group of their files.
 */
function fsGroup(
  spec: Json,
  settings: MirrorSettings,
  identity: RunsAs,
  { sync, own }: { readonly sync: MirrorVolume; readonly own: readonly MirrorVolume[] },
): number | undefined {
  const given = givenGroup(spec, settings)
  if (given !== undefined || identity.rootAllowed || !('persistentVolumeClaim' in sync)) return given
  const claims = [...listIn(spec, 'volumes'), ...own].some(volume => 'persistentVolumeClaim' in volume)
  if (claims) return undefined
  return NOBODY.gid
}
