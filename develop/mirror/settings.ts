import { isAbsolute, relative, sep } from 'node:path'
import type { Pair } from '../../compiler/compose/project.ts'
import type { Development, DevelopmentContainer } from '../../compiler/manifest/development.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import { leadsOut } from '../../compiler/values/leads-out.ts'
import type {
  ContainerSettings,
  MirrorSettings,
  ResourceSettings,
  VolumeFolder,
} from '../../constructs/mirror/settings.ts'

/** Information about a development container that is not in its section of the manifest. */
export interface SettingsInput {
  /** Returns all variables of a container, without duplicates: from its section, from files and from options. */
  readonly variables: (container: DevelopmentContainer) => readonly { readonly name: string; readonly value: string }[]
  /** Returns the absolute path of a folder of `sync` on this machine. */
  readonly pathHere: (local: string) => string
}

/** Port of the Service if a container without an application forwards no port. */
const PORT = 8080

/** Converts a section of `dev` into the settings of a mirror, which are changes to the application. */
export function settingsOf(development: Development, given: SettingsInput): MirrorSettings {
  const { sync, securityContext, persistentVolume, initContainer } = development
  const main = (sync?.folders ?? []).map(({ local, remote, file }, index) => ({
    local,
    path: remote,
    directory: file === undefined ? `src/${index}` : `src/${index}/${file}`,
    ...(file !== undefined && { isFile: true as const }),
  }))
  const shared = main.filter(({ isFile }) => !isFile).map(one => ({ ...one, local: given.pathHere(one.local) }))
  const folders = (container: DevelopmentContainer): readonly VolumeFolder[] =>
    (container.sync?.folders ?? []).flatMap(({ local, remote }) => sharedFolder(shared, given.pathHere(local), remote))
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
    // If the container has no own image, it keeps the pull policy of the application.
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

/**
 * Returns the part of the volume for a folder that the main container also synchronizes, either as a folder of its own
 * or within another folder. Returns an empty list if the main container does not synchronize it. `local` and the
 * folders in `main` are absolute paths on this machine.
 */
function sharedFolder(
  main: readonly (VolumeFolder & { readonly local: string })[],
  local: string,
  path: string,
): readonly VolumeFolder[] {
  const above = main
    .map(one => ({ ...one, rest: relative(one.local, local).replaceAll(sep, '/') }))
    .filter(({ rest }) => !leadsOut(rest) && !isAbsolute(rest))
  // If a folder inside a synchronized folder is synchronized itself, its files may be only there.
  const [nearest] = above.sort((a, b) => a.rest.length - b.rest.length)
  if (!nearest) return []
  const { directory, rest } = nearest
  return [{ path, directory: rest === '' ? directory : `${directory}/${rest}` }]
}

const toRecord = (pairs: readonly Pair[]): Readonly<Record<string, string>> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]))

const toResources = ({ requests, limits }: DevelopmentContainer['resources']): ResourceSettings => ({
  requests: toRecord(requests),
  limits: toRecord(limits),
})

type Values<T> = { [K in keyof T]?: NonNullable<T[K]> extends { readonly value: infer V } ? V : never }

/** Returns the values of the fields that are set, without their positions. */
function valuesOf<T extends Record<string, { readonly value: unknown } | undefined>>(fields: T): Values<T> {
  const written = Object.entries(fields).flatMap(([name, at]) => (at ? [[name, at.value]] : []))
  return Object.fromEntries(written) as Values<T> // of the fields that are there
}

/** Converts structures of Kubernetes to plain JSON. */
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
