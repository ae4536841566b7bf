import type { Pair } from '../../compiler/compose/project.ts'
import type { Development, DevelopmentContainer } from '../../compiler/manifest/development.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import type {
  ContainerSettings,
  MirrorSettings,
  ResourceSettings,
  VolumeFolder,
} from '../../constructs/mirror/settings.ts'

/** Facts about a development container besides its section of the manifest. */
export interface SettingsInput {
  /** All variables of a container: of its section, of files and options, each once. */
  readonly variables: (container: DevelopmentContainer) => readonly { readonly name: string; readonly value: string }[]
}

/** The port of the Service of a container without an application that forwards none. */
const PORT = 8080

/** Converts a section of `dev` into the settings from which a mirror is made: what it changes in an application. */
export function settingsOf(development: Development, given: SettingsInput): MirrorSettings {
  const { sync, securityContext, persistentVolume, initContainer } = development
  const main = (sync?.folders ?? []).map(({ local, remote, file }, index) => ({
    local,
    path: remote,
    directory: file === undefined ? `src/${index}` : `src/${index}/${file}`,
    ...(file !== undefined && { isFile: true as const }),
  }))
  const shared = main.filter(({ isFile }) => !isFile)
  const folders = (container: DevelopmentContainer): readonly VolumeFolder[] =>
    (container.sync?.folders ?? []).flatMap(({ local, remote }) => sharedFolder(shared, local, remote))
  const ports = development.forward.filter(one => !one.service && !one.labels).map(({ remotePort }) => remotePort)
  return {
    ...toContainerSettings(
      development,
      given,
      main.map(({ local: _, ...folder }) => folder),
    ),
    mode: development.mode,
    autocreate: development.autocreate,
    volumes: development.volumes.map(({ value }) => ({ path: value, directory: `data${value}` })),
    externalVolumes: development.externalVolumes.map(({ claim, subPath, mount }) => ({
      claim,
      mount,
      ...(subPath !== undefined && { subPath }),
    })),
    secrets: development.secrets.map(({ remote, mode }) => ({ path: remote, mode })),
    security: {
      ...valuesOf({
        runAsUser: securityContext.runAsUser,
        runAsGroup: securityContext.runAsGroup,
        fsGroup: securityContext.fsGroup,
        runAsNonRoot: securityContext.runAsNonRoot,
        allowPrivilegeEscalation: securityContext.allowPrivilegeEscalation,
        readOnlyRootFilesystem: securityContext.readOnlyRootFilesystem,
      }),
      capabilities: securityContext.capabilities,
    },
    ...valuesOf({ serviceAccount: development.serviceAccount, priorityClassName: development.priorityClassName }),
    probes: development.probes,
    lifecycle: development.lifecycle,
    agent: { ...valuesOf({ image: initContainer.image }), resources: toResources(initContainer.resources) },
    volume: {
      enabled: persistentVolume.enabled,
      size: persistentVolume.size,
      ...valuesOf({ storageClass: persistentVolume.storageClass }),
      accessMode: persistentVolume.accessMode,
      volumeMode: persistentVolume.volumeMode,
      labels: toRecord(persistentVolume.labels),
      annotations: toRecord(persistentVolume.annotations),
    },
    services: development.services.map(one => toContainerSettings(one, given, folders(one))),
    ports: ports.length > 0 ? [...new Set(ports)] : [PORT],
  }
}

function toContainerSettings(
  container: DevelopmentContainer,
  { variables }: SettingsInput,
  folders: readonly VolumeFolder[],
): ContainerSettings {
  const { name, command, args, imagePullPolicy, image } = container
  return {
    name,
    ...valuesOf({ image, workdir: container.workdir, container: container.container, replicas: container.replicas }),
    // Without an image of its own, the container keeps how its image is pulled.
    ...((image || imagePullPolicy !== 'Always') && { imagePullPolicy }),
    ...(command && { command }),
    ...(args && { args }),
    environment: variables(container),
    folders,
    resources: toResources(container.resources),
    labels: toRecord(container.labels),
    annotations: toRecord(container.annotations),
    ...(container.nodeSelector && { nodeSelector: toRecord(container.nodeSelector) }),
    tolerations: (container.tolerations ? toPlain(container.tolerations) : []) as readonly unknown[], // the manifest's shape is a list
    ...(container.affinity && { affinity: toPlain(container.affinity) }),
  }
}

/** The part of the volume with a folder that is one of the main container's, or below one. */
function sharedFolder(
  main: readonly (VolumeFolder & { readonly local: string })[],
  local: string,
  path: string,
): readonly VolumeFolder[] {
  const own = normalized(local)
  const above = main.find(one => own === normalized(one.local) || own.startsWith(`${normalized(one.local)}/`))
  const isBelow = main.find(one => normalized(one.local) === '.' && !/^[/~.]/.test(own))
  const found = above ?? isBelow
  if (!found) return []
  const rest = own.slice(found === above ? normalized(found.local).length : 0).replace(/^\//, '')
  return [{ path, directory: rest === '' || rest === '.' ? found.directory : `${found.directory}/${rest}` }]
}

/** Relative paths without `./` and the slash at the end. */
const normalized = (path: string): string => path.replace(/^(\.\/)+(?=.)/, '').replace(/(?<=.)\/+$/, '')

const toRecord = (pairs: readonly Pair[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]))

const toResources = ({ requests, limits }: DevelopmentContainer['resources']): ResourceSettings => ({
  requests: toRecord(requests),
  limits: toRecord(limits),
})

type Values<T> = { [K in keyof T]?: NonNullable<T[K]> extends { readonly value: infer V } ? V : never }

/** The values of what is written, without their places. */
function valuesOf<T extends Record<string, { readonly value: unknown } | undefined>>(fields: T): Values<T> {
  const written = Object.entries(fields).flatMap(([name, at]) => (at ? [[name, at.value]] : []))
  return Object.fromEntries(written) as Values<T> // of the fields that are there
}

/** Kubernetes' own structures, as plain JSON. */
function toPlain(tree: Tree): unknown {
  switch (tree.kind) {
    case 'map':
      return Object.fromEntries([...tree.entries].map(([key, { value }]) => [key, toPlain(value)]))
    case 'seq':
      return tree.items.map(toPlain)
    case 'scalar':
      return typeof tree.value === 'bigint' ? Number(tree.value) : tree.value
  }
}
