import type { ContainerMount, ContainerPlan, ContainerSecurity, FillPlan } from '../../compiler/plan/plan.ts'
import { toAffinity } from '../pod/affinity.ts'
import { fillContainers } from '../pod/fill.ts'
import { helperContainer } from '../pod/helper.ts'
import { quote } from '../pod/shell.ts'
import { busybox, type Tools } from '../pod/tools.ts'
import { AGENT_MOUNTS, agentCommand, agentContainer, USER_FILE } from './agent.ts'
import { containerJson, developContainer, type PodParts } from './container.ts'
import type { Detached } from './detach.ts'
import { compact, type Json, listIn, mapIn, mergeBy } from './json.ts'
import {
  CODE_VOLUME,
  claimName,
  FILES_VOLUME,
  labelValue,
  READY_FILE,
  RUN_VOLUME,
  SHARED_FOLDER,
  SHARED_PATH,
  SYNC_VOLUME,
  TOOLS_PATH,
  TOOLS_VOLUME,
  USER_CONTAINER,
} from './names.ts'
import { holdCommand, INSTALL } from './scripts.ts'
import type { ContainerSettings, MirrorFacts, MirrorSettings, VolumeFolder } from './settings.ts'
import {
  agentSecurity,
  asksForUser,
  fillSecurity,
  identityOf,
  NOBODY,
  OWN_SECURITY,
  type RunsAs,
  restricted,
} from './user.ts'

/** A volume of the Pod as Kubernetes writes it. */
type Volume = Json & { readonly name: string }

/** The Pod of a development container: the application's, with the agent and what the settings change. */
export function developPod(
  original: Detached,
  settings: MirrorSettings,
  facts: MirrorFacts,
  volumes: { readonly sync: Volume; readonly secret: string; readonly own: readonly Volume[] },
): Json {
  const { spec } = original
  const live = chosenContainer(spec, settings)
  const identity = settings.mode === 'hybrid' ? NOBODY_AT_ALL : identityOf(spec, live, settings, facts.user)
  const isSidecar = facts.hasSidecars && settings.mode === 'sync'
  const around: PodParts = {
    mounts: [...containerMounts(settings), ...(isSidecar ? [] : [RUN_MOUNT])],
    runs: facts.runs,
    hold: holdCommand(isSidecar ? undefined : READY_FILE),
    ...(!isSidecar && { ready: READY_FILE }),
  }
  const own =
    settings.mode === 'hybrid'
      ? hybridContainer(live, settings, facts, identity)
      : developContainer(live, settings, around)
  const agent = agentContainer(settings, facts, identity, isSidecar ? 'sidecar' : 'container')
  const image = own['image'] as string // a container's
  const fills =
    settings.mode === 'hybrid' ? [] : fillContainersOf(own, image, settings, facts, identity, spec, volumes.sync)
  return podSpec(spec, settings, {
    initContainers: [
      containerJson(toolsContainer(facts)),
      ...listIn(spec, 'initContainers'),
      ...fills,
      ...(isSidecar ? [agent] : []),
    ],
    containers: [
      ...mergeBy('name', listIn(spec, 'containers'), [own]),
      ...(isSidecar || settings.mode === 'hybrid' ? [] : [agent]),
    ],
    volumes: [
      volumes.sync,
      ...volumes.own,
      { name: RUN_VOLUME, emptyDir: { medium: 'Memory' } },
      { name: TOOLS_VOLUME, emptyDir: { medium: 'Memory' } },
      { name: CODE_VOLUME, secret: { secretName: volumes.secret, items: CODE_ITEMS } },
      ...(settings.mode === 'sync' ? ownVolumes(settings, volumes.secret) : []),
    ],
    fsGroup: settings.mode === 'hybrid' ? undefined : fsGroup(spec, settings, identity, volumes),
    colocate: colocation(settings, volumes.sync),
  })
}

/** The Pod of a container beside it, which shares the volume and has no agent. */
export function besidePod(
  original: Detached,
  service: ContainerSettings,
  settings: MirrorSettings,
  facts: MirrorFacts,
  sync: Volume,
): Json {
  const { spec } = original
  const live = chosenContainer(spec, service)
  const mounts = [...service.folders.map(syncMount), TOOLS_MOUNT]
  const own = developContainer(live, service, { mounts, runs: 'command', hold: [] })
  const wait = helperContainer({
    name: 'devctl-wait',
    image: facts.toolsImage,
    command: ['sh', '-c', 'until [ -e /devctl/volume/.devctl/volume ]; do sleep 0.2; done'],
    mounts: [{ volume: SYNC_VOLUME, path: '/devctl/volume', readOnly: true }],
    security: restricted(NOBODY),
  })
  return podSpec(spec, service, {
    initContainers: [containerJson(toolsContainer(facts)), ...listIn(spec, 'initContainers'), containerJson(wait)],
    containers: mergeBy('name', listIn(spec, 'containers'), [own]),
    volumes: [sync, { name: TOOLS_VOLUME, emptyDir: { medium: 'Memory' } }],
    colocate: colocation(settings, sync),
  })
}

/** The label of the Pods that share a claim which one node alone can mount. */
export const volumeLabel = (development: string): string =>
  `dev.platform/${labelValue(`volume-${claimName(development)}`)}`

const CODE_ITEMS = ['agent.cjs.gz', 'session.json'].map(key => ({ key, path: key }))
const TOOLS_MOUNT: ContainerMount = { volume: TOOLS_VOLUME, path: TOOLS_PATH, readOnly: true }
const RUN_MOUNT: ContainerMount = { volume: RUN_VOLUME, path: '/run/devctl' }
const NOBODY_AT_ALL: RunsAs = { kind: 'known', user: NOBODY, rootAllowed: true }

/** The container that the settings name, or the first one. Throws when there is none of that name: the caller has looked. */
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
    readonly volumes: readonly Volume[]
    readonly fsGroup?: number | undefined
    readonly colocate?: string | undefined
  },
): Json {
  const account = settings.serviceAccount
  return compact({
    ...live,
    ...(account !== undefined && { serviceAccountName: account, serviceAccount: account }),
    // The admission of priority classes writes the number of the class that it was.
    ...(settings.priorityClassName !== undefined && {
      priorityClassName: settings.priorityClassName,
      priority: undefined,
    }),
    nodeSelector: settings.nodeSelector ?? live['nodeSelector'],
    tolerations: [...listIn(live, 'tolerations'), ...settings.tolerations],
    affinity: affinity((settings.affinity ?? live['affinity']) as Json | undefined, parts.colocate), // as written
    securityContext: compact({
      ...mapIn(live, 'securityContext'),
      ...(parts.fsGroup !== undefined && { fsGroup: parts.fsGroup }),
    }),
    initContainers: parts.initContainers,
    containers: parts.containers,
    volumes: mergeBy('name', listIn(live, 'volumes'), parts.volumes),
  })
}

/** Pods that share a claim of one node go to one node, besides what they were to do. */
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

function colocation(settings: MirrorSettings, sync: Volume): string | undefined {
  const shared = settings.services.length > 0 && 'persistentVolumeClaim' in sync
  return shared && settings.volume.accessMode !== 'ReadWriteMany' ? volumeLabel(settings.name) : undefined
}

const syncMount = ({ path, directory }: VolumeFolder): ContainerMount => ({
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

function ownVolumes(settings: MirrorSettings, secret: string): readonly Volume[] {
  const items = settings.secrets.map(({ mode }, index) => ({ key: `file-${index}`, path: `file-${index}`, mode }))
  return [
    ...settings.externalVolumes.map(({ claim }, index) => ({
      name: `devctl-external-${index}`,
      persistentVolumeClaim: { claimName: claim },
    })),
    ...(items.length > 0 ? [{ name: FILES_VOLUME, secret: { secretName: secret, items } }] : []),
  ]
}

function toolsContainer({ toolsImage }: MirrorFacts): ContainerPlan {
  return helperContainer({
    name: TOOLS_VOLUME,
    image: toolsImage,
    command: ['sh', '-c', INSTALL],
    mounts: [FILL_TOOLS],
    security: restricted(NOBODY),
  })
}

/** Where what fills volumes finds the tools. */
const FILL_TOOLS: ContainerMount = { volume: TOOLS_VOLUME, path: '/devctl' }

/** What finds out the user, gives the volume to it, and copies the image's files into it. */
function fillContainersOf(
  container: Json,
  image: string,
  settings: MirrorSettings,
  facts: MirrorFacts,
  identity: RunsAs,
  spec: Json,
  sync: Volume,
): readonly Json[] {
  const { imagePullPolicy = 'IfNotPresent' } = container as Pick<ContainerPlan, 'imagePullPolicy'> // a container's
  const fill = { volume: SYNC_VOLUME, image, imagePullPolicy, toolsImage: facts.toolsImage, ...fillSecurity(identity) }
  const all = [...settings.folders, ...settings.volumes]
  const fills = all
    .filter(({ isFile }) => !isFile)
    .map(({ path, directory }): FillPlan => ({ ...fill, directory, path }))
  const tools: Tools = {
    container: toolsContainer(facts),
    volume: { kind: 'memory', name: TOOLS_VOLUME },
    mount: FILL_TOOLS,
  }
  const names = new Set(
    [...listIn(spec, 'initContainers'), ...listIn(spec, 'containers')].map(one => String(one['name'])),
  )
  const planned = fillContainers({ fills, runAsNonRoot: !identity.rootAllowed }, tools, {
    containers: names,
    volumes: new Set(),
  })
  const copies = planned.map(one => containerJson(one))
  const files = facts.hasSidecars ? [] : all.filter(({ isFile }) => isFile)
  return [
    ...(asksForUser(identity) ? [containerJson(userContainer(image, imagePullPolicy, identity))] : []),
    ...(needsOwner(identity, settings, spec, sync) ? [containerJson(ownContainer(facts, identity))] : []),
    ...copies,
    ...(files.length > 0 ? [containerJson(filesContainer(files, fill))] : []),
  ]
}

/** Without a sidecar the agent starts with the container, and the kubelet mounts a folder where it finds no file. */
function filesContainer(
  files: readonly VolumeFolder[],
  { image, imagePullPolicy, rootless, security }: Omit<FillPlan, 'directory' | 'path'>,
): ContainerPlan {
  const make = files.map(({ directory }) => {
    const place = quote(`/devctl/volume/${directory}`)
    return `b mkdir -p "$(b dirname ${place})" && { [ -e ${place} ] || : > ${place}; }`
  })
  return helperContainer({
    name: 'devctl-files',
    image,
    imagePullPolicy,
    command: [busybox, 'sh', '-c', [`b() { ${busybox} "$@"; }`, ...make].join('\n')],
    mounts: [FILL_TOOLS, { volume: SYNC_VOLUME, path: '/devctl/volume' }],
    security: rootless ? security : { ...security, runAsUser: 0 },
  })
}

/** Leaves the user of the image where the agent and the laptop find it. */
function userContainer(
  image: string,
  imagePullPolicy: ContainerPlan['imagePullPolicy'],
  { rootAllowed }: RunsAs,
): ContainerPlan {
  const security: ContainerSecurity | undefined = rootAllowed ? undefined : restricted()
  const script = `b=${busybox}; "$b" printf %s:%s "$("$b" id -u)" "$("$b" id -g)" | "$b" tee ${USER_FILE} > /dev/termination-log`
  return helperContainer({
    name: USER_CONTAINER,
    image,
    imagePullPolicy,
    command: [busybox, 'sh', '-c', script],
    mounts: [FILL_TOOLS, RUN_MOUNT],
    security,
  })
}

/** A new claim belongs to root: without a group of the Pod, nobody else can write to it. */
function ownContainer({ toolsImage }: MirrorFacts, identity: RunsAs): ContainerPlan {
  const user =
    identity.kind === 'known'
      ? `${identity.user.uid}:${identity.user.gid ?? identity.user.uid}`
      : `"$(cat ${USER_FILE})"`
  return helperContainer({
    name: 'devctl-own',
    image: toolsImage,
    command: ['sh', '-c', `chown ${user} /devctl/volume`],
    mounts: [{ volume: SYNC_VOLUME, path: '/devctl/volume' }, RUN_MOUNT],
    security: OWN_SECURITY,
  })
}

function needsOwner(identity: RunsAs, settings: MirrorSettings, spec: Json, sync: Volume): boolean {
  const isRoot = identity.kind === 'known' && identity.user.uid === 0
  return !isRoot && identity.rootAllowed && 'persistentVolumeClaim' in sync && givenGroup(spec, settings) === undefined
}

const givenGroup = (spec: Json, { security }: MirrorSettings): number | undefined =>
  security.fsGroup ?? (mapIn(spec, 'securityContext')['fsGroup'] as number | undefined) // typed by the API

/**
 * The group that may write to the volumes. Where root is refused a new claim cannot be given to the
 * user, so the Pod gets a group, the same in each session; not where it has claims of the
 * application, whose files would change theirs.
 */
function fsGroup(
  spec: Json,
  settings: MirrorSettings,
  identity: RunsAs,
  { sync, own }: { readonly sync: Volume; readonly own: readonly Volume[] },
): number | undefined {
  const given = givenGroup(spec, settings)
  if (given !== undefined || identity.rootAllowed || !('persistentVolumeClaim' in sync)) return given
  const claims = [...listIn(spec, 'volumes'), ...own].some(volume => 'persistentVolumeClaim' in volume)
  if (claims) return undefined
  return NOBODY.gid
}

/** The agent in the place of the application: its variables and ports stay, for the command on the laptop. */
function hybridContainer(live: Json, settings: MirrorSettings, facts: MirrorFacts, identity: RunsAs): Json {
  const agent = agentContainer(settings, facts, identity, 'container')
  const { env, envFrom, ports } = developContainer(live, settings, { mounts: [], runs: 'hold', hold: [] })
  return compact({
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
}
