import { join, relative } from 'node:path/posix'
import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import { slug } from '../object-names.ts'
import { copyFiles, whySecret } from './host-copies.ts'
import { isFailed, reportFailed, type UnavailableFate } from './host-diagnostics.ts'
import { fateOf, type HostFate, type HostWorld, isInProject } from './host-fate.ts'
import { type FolderClaim, heldByFolder, type Once } from './host-folders.ts'
import { type HostMount, stored } from './host-mount.ts'
import { isInside, shown } from './host-paths.ts'
import type { StoredMount } from './stored-mount.ts'

const synchronized = diagnostic({
  code: 'volumes/synchronized',
  severity: 'info',
  explain:
    'The Dockerfile of the service copies the host path to the mount path. The mount is for development: `devctl up` synchronizes it with the container; a deployment uses the files of the image.',
  text: (p: { source: string; service: string }) => ({
    message: `\`${p.source}\` is not mounted: the built image of \`${p.service}\` contains the files`,
  }),
})

const becameClaim = diagnostic({
  code: 'volumes/host-claim',
  severity: 'warning',
  loss: true,
  explain: `The service stores data in a host folder: git tracks no files in it or, outside a checkout, it is missing or empty. In a cluster this data needs a claim. The claim is named after the path of the folder, is empty at first, and is shared by all services that mount the folder. A named volume works in Compose and in Kubernetes, and can have a size and a storage class. If the folder contains files that the service reads, track them, or add \`x-mount: config\`.

\`\`\`yaml
services:
  db:
    volumes:
      - data:/var/lib/data
volumes:
  data:
\`\`\``,
  text: (p: { source: string; claim: string; isTracked: boolean }) => ({
    message: `${p.isTracked ? `git tracks no files in \`${p.source}\`` : `\`${p.source}\` is missing or empty`}; it becomes the claim \`${p.claim}\``,
    hint: 'use a named volume',
  }),
})

const leftToUp = diagnostic({
  code: 'volumes/host-for-up',
  severity: 'warning',
  loss: true,
  explain: `A cluster cannot access the files on your machine, and more than 1 MiB does not fit into a ConfigMap. \`devctl deploy\` mounts a claim in the place of the folder, named after its path, and copies no files: the container starts with an empty folder. \`devctl up\` mounts a folder of its own there, and synchronizes it with the one on your machine. \`render\` and \`publish\` refuse such a mount.

For a deployment that runs by itself, build an image that contains the files:

\`\`\`yaml
services:
  web:
    build:
      context: .
      dockerfile_inline: |
        FROM node:22
        WORKDIR /app
        COPY . .
    volumes: [".:/app"]
\`\`\``,
  text: (p: { source: string; claim: string; service: string }) => ({
    message: `\`${p.source}\` is larger than 1 MiB and is not copied: \`${p.service}\` gets the empty claim \`${p.claim}\``,
    hint: '`devctl up` synchronizes the folder; for a deployment, build an image that contains it',
  }),
})

const emptyReadOnly = diagnostic({
  code: 'volumes/host-empty',
  severity: 'warning',
  loss: true,
  explain:
    'The host folder is empty and no service writes to it, so the service gets an empty folder. Check if its files still have to be generated.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is empty; the service gets an empty folder`,
    hint: 'generate the files first',
  }),
})

const missingOutside = diagnostic({
  code: 'volumes/host-missing-outside',
  severity: 'warning',
  loss: true,
  explain:
    'The host path is outside the project and does not exist on this machine. A path that is named like a file, or that Compose would not create, is not mounted. A folder that is only read is mounted as an empty folder. A cluster does not have the files of your machine either: use a secret, a config or a named volume.',
  text: (p: { source: string; isFolder: boolean }) => ({
    message: `\`${p.source}\` does not exist on this machine${p.isFolder ? '; the service gets an empty folder' : ' and is not mounted'}`,
    hint: 'use a secret, a config or a named volume',
  }),
})

const socket = diagnostic({
  code: 'volumes/host-socket',
  severity: 'warning',
  loss: true,
  explain:
    'Sockets, devices and time zone files of your machine do not exist in a cluster. A node has no Docker socket, and device plugins assign its devices. The mount is left out. To set the time zone, set `TZ` in `environment`.',
  text: (p: { source: string; hint: string | undefined }) => ({
    message: `\`${p.source}\` has no equivalent in Kubernetes and is not mounted`,
    hint: p.hint,
  }),
})

const systemPath = diagnostic({
  code: 'volumes/host-system',
  severity: 'warning',
  loss: true,
  explain:
    'The path is part of the operating system. It is mounted from the node where the Pod runs, not from your machine. The Pod Security levels `baseline` and `restricted` refuse such Pods.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is mounted from the node where the Pod runs`,
    hint: 'remove it unless the service monitors its node',
  }),
})

const copied = diagnostic({
  code: 'volumes/host-copied',
  severity: 'info',
  explain:
    'A cluster cannot access the files on your machine. devctl copies small files and folders into a ConfigMap, which is mounted read-only. Changes reach the cluster with the next deploy.',
  text: (p: { source: string }) => ({ message: `\`${p.source}\` is copied into a ConfigMap and mounted read-only` }),
})

const readOnly = diagnostic({
  code: 'volumes/host-read-only',
  severity: 'warning',
  loss: true,
  explain: `A cluster cannot access the files on your machine. devctl copies the files that git tracks at the host path, or all files outside a checkout, into a ConfigMap, which is read-only. If the service only reads the files, add \`:ro\`; if it writes, use a volume.

\`\`\`yaml
volumes:
  - ./conf:/etc/app:ro      # a copy, read-only
  - data:/var/lib/app       # a volume to write to
\`\`\``,
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is copied into a ConfigMap, which is read-only`,
    hint: 'add `:ro` if the service only reads it, else use a named volume',
  }),
})

const readOnlySecret = diagnostic({
  code: 'volumes/host-secret',
  severity: 'warning',
  loss: true,
  explain: `The path looks like keys or contains files that do, or it is outside the project. devctl copies it into a Secret, like an entry of \`secrets\`. A Secret is read-only. If the service only reads it, add \`:ro\`.

\`\`\`yaml
volumes:
  - ~/.aws:/root/.aws:ro
\`\`\``,
  text: (p: { source: string; why: string }) => ({
    message: `\`${p.source}\` ${p.why}: it is copied into a Secret, which is read-only`,
    hint: 'add `:ro` if the service only reads it, else use a named volume',
  }),
})

const expectedInImage = diagnostic({
  code: 'volumes/host-expected-in-image',
  severity: 'warning',
  explain: `The host path is larger than 1 MiB, which does not fit into a ConfigMap, and the image of the service is set with \`--image\`, \`--images-file\` or the manifest. The path is not mounted: the image must contain the files, which devctl cannot check. To confirm that it does:

\`\`\`yaml
volumes:
  - type: bind
    source: ./site
    target: /usr/share/nginx/html
    read_only: true
    x-mount: skip
\`\`\``,
  text: (p: { source: string; target: string; service: string }) => ({
    message: `\`${p.source}\` is larger than 1 MiB and is not mounted: the image of \`${p.service}\` must contain it at \`${p.target}\``,
    hint: 'if it does, add `x-mount: skip`',
  }),
})

const asSecret = diagnostic({
  code: 'volumes/host-as-secret',
  severity: 'info',
  explain:
    'The path looks like keys or contains files that do, or it is outside the project. devctl copies it into a Secret instead of a ConfigMap. `x-mount: config` in the long form of the mount makes it a ConfigMap.',
  text: (p: { source: string; why: string }) => ({ message: `\`${p.source}\` ${p.why}; it becomes a Secret` }),
})

const leftOut = diagnostic({
  code: 'volumes/host-left-out',
  severity: 'warning',
  loss: true,
  explain:
    'The folder is copied into the cluster without untracked files or, outside a checkout, without `.git` and ignored files: on other machines they are missing or different. Track the files that the service needs, and mount secrets and data separately.',
  text: (p: { source: string; names: readonly string[]; isTracked: boolean }) => ({
    message: `${p.isTracked ? `untracked files in \`${p.source}\`` : `ignored files in \`${p.source}\``} are left out: ${listed(p.names)}`,
    hint: 'track the files that the service needs',
  }),
})

const deleted = diagnostic({
  code: 'volumes/host-deleted',
  severity: 'warning',
  loss: true,
  explain:
    'Git tracks files at the host path that are not in the working tree. They are left out; other machines have them until the deletion is committed.',
  text: (p: { source: string; names: readonly string[] }) => ({
    message: `tracked files in \`${p.source}\` are missing and are left out: ${listed(p.names)}`,
    hint: 'restore them with `git checkout`, or remove them with `git rm`',
  }),
})

const notTracked = diagnostic({
  code: 'volumes/host-not-tracked',
  severity: 'warning',
  explain:
    'Git does not track the file, so other machines do not have it, and a deploy from there is refused. Track it, or, for a key, create a Secret in the cluster and use it with `secrets` and `external: true`. To keep it as it is, add `x-mount: config` or `x-mount: secret`.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is not tracked by git, so other machines do not have it`,
    hint: 'track it, or add `x-mount: config` or `x-mount: secret` if this is intended',
  }),
})

const unversioned = diagnostic({
  code: 'volumes/host-unversioned',
  severity: 'warning',
  explain:
    'In a git checkout devctl copies the tracked files of a host path, so that every machine renders the same manifests. Without a checkout, or if git fails, it copies the files on this machine, without `.git` and ignored files; a missing or empty folder is data and becomes a claim. A checkout counts if it tracks any file in the project folder.',
  text: (p: { source: string; others: number; why: string | undefined }) => ({
    message: `${p.why === undefined ? 'the project is not in a git checkout' : `git failed (${p.why})`}: the files on this machine are copied, in \`${p.source}\`${p.others > 0 ? ` and ${p.others} more` : ''}`,
    hint: p.why === undefined ? 'add the project to a git repository' : 'fix the checkout, or install git',
  }),
})

/** Input for planning host volumes, in addition to the project. */
export interface HostVolumes {
  readonly world: HostWorld
  readonly claimOf: (path: string) => FolderClaim
  /** Data folders; none of them is inside another one. */
  readonly dataFolders: readonly string[]
  readonly once: Once
  /**
   * Host paths whose files are copied from this machine because there is no git checkout or git failed, each with its
   * position in the Compose files. One warning at the end reports all of them.
   */
  readonly unversioned: Map<string, Span>
}

/** Plans how a host volume is mounted. Returns undefined if nothing is mounted, and reports the reason. */
export function planHostVolume(
  context: PlanContext,
  hosts: HostVolumes,
  service: Service,
  mount: HostMount,
): StoredMount | undefined {
  const { reporter, project } = context
  const source = shown(mount.source, project.directory)
  const fate = fateOf(context, hosts.world, service, mount)
  if (isFailed(fate)) return unavailable(context, service, mount, fate)
  switch (fate.kind) {
    case 'skip':
    case 'refused':
      return undefined
    case 'in-image':
      reporter.report(synchronized, mount.sourceSpan, { source, service: service.name })
      return undefined
    case 'socket':
    case 'special': {
      const hint = /^\/etc\/(localtime|timezone)$/.test(mount.source) ? 'set `TZ` in `environment`' : undefined
      reporter.report(socket, mount.sourceSpan, { source, hint })
      return undefined
    }
    case 'system':
      reporter.report(systemPath, mount.sourceSpan, { source })
      return nodeFolder(mount)
    case 'missing-outside':
      reporter.report(missingOutside, mount.sourceSpan, { source, isFolder: fate.isFolder })
      return fate.isFolder ? emptyFolder(mount) : undefined
    case 'copy':
      return copy(context, hosts, service, mount, fate)
    case 'claim':
      return claim(context, hosts, service, mount, fate.why)
  }
}

/**
 * Reports a host volume that is not available, even if its service is not planned because another key is in error.
 * Otherwise the user would see the report only in the next run.
 */
export function checkHostVolume(
  context: PlanContext,
  { world }: HostVolumes,
  service: Service,
  mount: HostMount,
): void {
  const fate = fateOf(context, world, service, mount)
  if (isFailed(fate)) unavailable(context, service, mount, fate)
}

/**
 * Reports a host volume that is not available. If the host path is empty and the mount has no `x-mount`, returns an
 * empty folder as the mount; otherwise returns undefined.
 */
function unavailable(
  { reporter, project, options }: PlanContext,
  service: Service,
  mount: HostMount,
  fate: UnavailableFate,
): StoredMount | undefined {
  const source = shown(mount.source, project.directory)
  if (fate.kind === 'nothing-to-read' && fate.state === 'empty' && !mount.as) {
    reporter.report(emptyReadOnly, mount.sourceSpan, { source })
    return emptyFolder(mount)
  }
  // An image that is given for the service is assumed to hold what Compose would have mounted; it cannot be inspected.
  if (fate.kind === 'too-large' && mount.readOnly && options.images?.has(service.name))
    reporter.report(expectedInImage, mount.sourceSpan, { source, target: mount.target, service: service.name })
  else reportFailed(reporter, fate, service, mount, source)
  return undefined
}

const emptyFolder = (mount: HostMount): StoredMount =>
  stored(mount, { kind: 'empty', name: slug(mount.target) || 'root' })

function nodeFolder(mount: HostMount): StoredMount {
  const type = mount.createHostPath ? undefined : 'Directory'
  const name = `host-${slug(mount.source) || 'root'}`
  return stored(mount, { kind: 'hostPath', name, path: mount.source, ...(type && { type }) })
}

/**
 * Returns mounts for the data folders inside a copied folder, because on the host they are part of the copied folder.
 * Skips mount paths for which `isTaken` returns true, because the service itself mounts something at these paths.
 */
export function planDataWithin(
  context: PlanContext,
  { claimOf, dataFolders }: HostVolumes,
  mount: HostMount,
  copied: StoredMount,
  isTaken: (target: string) => boolean,
): readonly StoredMount[] {
  const { held } = copied
  if ((held.kind !== 'configMap' && held.kind !== 'secret') || held.subPath !== undefined) return []
  return dataFolders
    .filter(source => source !== mount.source && isInside(source, mount.source))
    .map(source => ({ ...mount, source, target: join(mount.target, relative(mount.source, source)) }))
    .filter(({ target }) => !isTaken(target))
    .map(inner => ({ ...stored(inner, heldByFolder(context, claimOf(inner.source), inner, false)), isPart: true }))
}

/**
 * Plans the claim of a data folder. The claim of a service with a `build` is filled from the image of the service,
 * which may contain files at the mount path.
 */
function claim(
  context: PlanContext,
  { world, claimOf, once }: HostVolumes,
  service: Service,
  mount: HostMount,
  why: Extract<HostFate, { kind: 'claim' }>['why'],
): StoredMount {
  const folder = claimOf(mount.source)
  const held = heldByFolder(context, folder, mount, service.build !== undefined && !mount.readOnly)
  if (why !== 'said' && once('claim', mount.source, mount.sourceSpan)) {
    const source = shown(mount.source, context.project.directory)
    const { claim } = folder
    if (why === 'too-large')
      context.reporter.report(leftToUp, mount.sourceSpan, { source, claim, service: service.name })
    else {
      const isTracked = world.reader.checkout !== undefined && isInProject(context, world, mount.source)
      context.reporter.report(becameClaim, mount.sourceSpan, { source, claim, isTracked })
    }
  }
  return stored(mount, held)
}

function copy(
  context: PlanContext,
  hosts: HostVolumes,
  service: Service,
  mount: HostMount,
  { content, as }: Extract<HostFate, { kind: 'copy' }>,
): StoredMount {
  const { files, isFolder } = content
  const source = shown(mount.source, context.project.directory)
  const isOwn = isInProject(context, hosts.world, mount.source)
  const why = !isOwn ? 'lies outside the project' : whySecret(source, files, isFolder)
  const isSecret = as === undefined ? why !== undefined : as === 'secret'
  if (as === undefined) {
    reportCopy(context, mount, { source, why })
    if (isOwn) reportMachine(context, hosts, mount, { source, isTracked: content.isTracked })
  }
  reportGaps(context, hosts, mount, { ...content, source })
  return copyFiles(context, service, mount, { files, isFolder, isSecret })
}

function reportCopy(
  { reporter }: PlanContext,
  { sourceSpan, readOnly: isRead }: HostMount,
  { source, why }: { readonly source: string; readonly why: string | undefined },
): void {
  if (why !== undefined && !isRead) reporter.report(readOnlySecret, sourceSpan, { source, why })
  else if (why !== undefined) reporter.report(asSecret, sourceSpan, { source, why })
  else if (isRead) reporter.report(copied, sourceSpan, { source })
  else reporter.report(readOnly, sourceSpan, { source })
}

/**
 * Reports a host path whose files are copied from this machine although git does not track them, because other machines
 * do not have these files. Without a checkout, only records the path in `unversioned`.
 */
function reportMachine(
  { reporter }: PlanContext,
  { world, once, unversioned: found }: HostVolumes,
  { source: path, sourceSpan }: HostMount,
  { source, isTracked }: { readonly source: string; readonly isTracked: boolean },
): void {
  if (isTracked) return
  if (!world.reader.checkout) {
    if (!found.has(source)) found.set(source, sourceSpan)
  } else if (once('not-tracked', path, sourceSpan)) reporter.report(notTracked, sourceSpan, { source })
}

interface Gaps {
  readonly source: string
  readonly isTracked: boolean
  readonly leftOut: readonly string[]
  readonly gone: readonly string[]
}

function reportGaps(
  { reporter }: PlanContext,
  { once }: HostVolumes,
  { source: path, sourceSpan }: HostMount,
  { source, isTracked, leftOut: names, gone }: Gaps,
): void {
  if (names.length > 0 && once('left-out', path, sourceSpan))
    reporter.report(leftOut, sourceSpan, { source, names, isTracked })
  if (gone.length > 0 && once('deleted', path, sourceSpan))
    reporter.report(deleted, sourceSpan, { source, names: gone })
}

/** Reports, once for the project, that the content of host paths comes from this machine. */
export function reportUnversioned({ reporter }: PlanContext, { world, unversioned: found }: HostVolumes): void {
  const [first] = found
  if (!first) return
  const [source, span] = first
  reporter.report(unversioned, span, { source, others: found.size - 1, why: world.reader.failure })
}

const MOST_NAMES = 5

function listed(names: readonly string[]): string {
  const shownNames = names.slice(0, MOST_NAMES).map(name => `\`${name}\``)
  const more = names.length - shownNames.length
  return `${shownNames.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
