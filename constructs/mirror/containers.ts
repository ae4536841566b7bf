import type { ContainerMount, ContainerPlan, EnvPlan } from '../../compiler/plan/plan.ts'
import { helperContainer } from '../pod/helper.ts'
import { AGENT_MOUNTS, agentCommand, agentContainer } from './agent.ts'
import { containerJson, developContainer } from './container.ts'
import { fillContainer, toolsContainer, userContainer } from './fill.ts'
import { compact, type Json, listIn, mapIn } from './json.ts'
import {
  FILES_VOLUME,
  READY_FILE,
  RUN_PATH,
  RUN_VOLUME,
  SHARED_FOLDER,
  SHARED_PATH,
  SYNC_VOLUME,
  TOOLS_PATH,
  TOOLS_VOLUME,
} from './names.ts'
import type { MirrorFacts, MirrorSettings, VolumeFolder } from './settings.ts'
import { agentSecurity, agentWaits, type RunsAs } from './user.ts'

/** A volume of the Pod in Kubernetes' format. */
export type MirrorVolume = Json & { readonly name: string }

/**
 * The containers that devctl adds to a Pod, and the development container, which is derived from the application's
 * container.
 */
export interface OurContainers {
  readonly tools: Json
  readonly before: readonly Json[]
  readonly beside: readonly Json[]
  readonly own: Json
}

/**
 * Returns the containers that synchronize files. The kubelet takes about a second between two init containers, so the
 * agent and the fill container start in parallel with the development container, whose process 1 waits for the files.
 * The agent and the fill container are init containers if process 1 would not wait, or if other containers would start
 * without the files.
 */
export function syncContainers(
  { spec, live }: { readonly spec: Json; readonly live: Json },
  settings: MirrorSettings,
  facts: MirrorFacts,
  identity: RunsAs,
  { sync, env }: { readonly sync: MirrorVolume; readonly env: readonly EnvPlan[] },
): OurContainers {
  const folders = [...settings.folders, ...settings.volumes]
  const isHole = hasMountsBelow(folders, [
    ...listIn(live, 'volumeMounts').map(one => String(one['mountPath'])),
    ...otherMounts(settings),
  ])
  const mayBeBeside = !agentWaits(identity) && !isHole && waitsByItself(live, settings, facts)
  const isBeside = !facts.hasSidecars || mayBeBeside
  const own = developContainer(live, settings, {
    mounts: [...containerMounts(settings), ...(isBeside ? [RUN_MOUNT] : [])],
    env,
    runs: facts.runs,
    ...(isBeside && { ready: READY_FILE }),
  })
  const places = { folders, identity, needsOwner: needsOwner(identity, settings, spec, sync) }
  const { image, imagePullPolicy = 'IfNotPresent' } = own as Pick<ContainerPlan, 'image' | 'imagePullPolicy'> // a container's
  const agent = agentContainer(settings, facts, identity, isBeside ? 'container' : 'sidecar')
  if (agentWaits(identity)) {
    const user = containerJson(userContainer({ image, imagePullPolicy }, places))
    const tools = containerJson(toolsContainer(facts))
    return isBeside
      ? { tools, before: [user], beside: [agent], own }
      : { tools, before: [user, agent], beside: [], own }
  }
  const tools = containerJson(toolsContainer(facts, places))
  const fill = {
    ...containerJson(
      fillContainer({ image, imagePullPolicy }, folders, identity, { stays: mayBeBeside, reset: facts.reset }),
    ),
    // The end of the log is in the status of the Pod, where `up` reads it, for example if a volume is too small.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
  if (mayBeBeside) return { tools, before: [], beside: [{ ...fill, resources: FILL_RESOURCES }, agent], own }
  return isBeside ? { tools, before: [fill], beside: [agent], own } : { tools, before: [fill, agent], beside: [], own }
}

/** Paths that the kubelet mounts in every container. */
const OF_KUBELET = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/var/run/secrets/kubernetes.io/serviceaccount']

/**
 * Returns true if another volume is mounted inside a folder. When the container starts, the runtime creates the mount
 * point in the folder, as root. The folder is then not empty, so it would not be filled, and the mount point is not
 * writable for other users.
 */
const hasMountsBelow = (folders: readonly VolumeFolder[], mounts: readonly string[]): boolean =>
  folders.some(({ path }) => [...mounts, ...OF_KUBELET].some(mount => mount.startsWith(`${path.replace(/\/$/, '')}/`)))

const otherMounts = (settings: MirrorSettings): readonly string[] => containerMounts(settings).map(({ path }) => path)

/** Resources of the fill container, which sleeps most of the time. */
const FILL_RESOURCES: Json = { requests: { cpu: '1m', memory: '16Mi' }, limits: { memory: '256Mi' } }

/**
 * Returns true if nothing runs in the container before its process 1 has waited for the files. devctl has to set the
 * command of process 1, and there must be no probe or hook that runs earlier.
 */
function waitsByItself(live: Json, settings: MirrorSettings, { runs }: MirrorFacts): boolean {
  const { probes, lifecycle, command } = settings
  const isOurs = runs === 'hold' || command !== undefined || live['command'] !== undefined
  const isProbed = (probes.liveness && 'livenessProbe' in live) || (probes.startup && 'startupProbe' in live)
  const { enabled, command: hook = mapIn(live, 'lifecycle')['postStart'] } = lifecycle.postStart
  return isOurs && !isProbed && !(enabled && hook !== undefined)
}

/**
 * Returns the containers for hybrid mode: the agent replaces the application, but keeps its variables and ports for the
 * command on the laptop.
 */
export function hybridContainers(
  live: Json,
  settings: MirrorSettings,
  facts: MirrorFacts,
  identity: RunsAs,
  variables: readonly EnvPlan[],
): OurContainers {
  const agent = agentContainer(settings, facts, identity, 'container')
  const { env, envFrom, ports } = developContainer(live, settings, { mounts: [], env: variables, runs: 'hold' })
  const own = compact({
    ...agent,
    name: live['name'],
    command: agentCommand(identity),
    env,
    envFrom,
    ports,
    securityContext: containerJson(
      helperContainer({ name: 'a', image: 'a', command: [], security: agentSecurity(identity) }),
    )['securityContext'],
    volumeMounts: containerJson(helperContainer({ name: 'a', image: 'a', command: [], mounts: AGENT_MOUNTS }))[
      'volumeMounts'
    ],
  })
  return { tools: containerJson(toolsContainer(facts)), before: [], beside: [], own }
}

function needsOwner(identity: RunsAs, settings: MirrorSettings, spec: Json, sync: MirrorVolume): boolean {
  const isRoot = identity.kind === 'known' && identity.user.uid === 0
  return !isRoot && identity.rootAllowed && 'persistentVolumeClaim' in sync && givenGroup(spec, settings) === undefined
}

/** Returns the group that the settings or the application set for the volumes; undefined if neither sets one. */
export const givenGroup = (spec: Json, { security }: MirrorSettings): number | undefined =>
  security.fsGroup ?? (mapIn(spec, 'securityContext')['fsGroup'] as number | undefined) // typed by the API

export const TOOLS_MOUNT: ContainerMount = { volume: TOOLS_VOLUME, path: TOOLS_PATH, readOnly: true }
const RUN_MOUNT: ContainerMount = { volume: RUN_VOLUME, path: RUN_PATH, readOnly: true }

export const syncMount = ({ path, directory }: VolumeFolder): ContainerMount => ({
  volume: SYNC_VOLUME,
  path,
  subPath: directory,
})

function containerMounts(settings: MirrorSettings): readonly ContainerMount[] {
  return [
    ...[...settings.folders, ...settings.volumes].map(syncMount),
    ...settings.externalVolumes.map(({ mount, subPath }, index) => ({
      volume: `devctl-external-${index}`,
      path: mount,
      ...(subPath !== undefined && { subPath }),
    })),
    ...settings.secrets.map(({ path }, index) => ({
      volume: FILES_VOLUME,
      path,
      subPath: `file-${index}`,
      readOnly: true,
    })),
    TOOLS_MOUNT,
    { volume: RUN_VOLUME, path: SHARED_PATH, subPath: SHARED_FOLDER, readOnly: true },
  ]
}
