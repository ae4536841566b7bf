import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import { slug } from '../object-names.ts'
import { copyFiles, whySecret } from './host-copies.ts'
import { reportFailed } from './host-diagnostics.ts'
import { fateOf, type HostFate, type HostWorld, isInProject } from './host-fate.ts'
import { type FolderClaim, heldByFolder, type Once } from './host-folders.ts'
import { type HostMount, stored } from './host-mount.ts'
import { shown } from './host-paths.ts'
import type { StoredMount } from './stored-mount.ts'

const synchronized = diagnostic({
  code: 'volumes/synchronized',
  severity: 'info',
  explain:
    'The Dockerfile of the service copies the host path to where it is mounted. The mount is for development: `devctl up` synchronizes it with the container; a deployment uses what the image holds.',
  text: (p: { source: string; service: string }) => ({
    message: `\`${p.source}\` is not mounted: the image that is built for \`${p.service}\` holds the files`,
  }),
})

const becameClaim = diagnostic({
  code: 'volumes/host-claim',
  severity: 'warning',
  loss: true,
  explain: `The service keeps its data in a folder of the host: one in which git tracks nothing, or, outside a checkout, one that is missing or empty. In a cluster that data needs a claim. It is named after the folder's path, is empty at first, and is shared by all services that mount the folder. A named volume says the same in both worlds, and can be given a size and a class. If the folder holds files that the service is to read, track them, or add \`x-mount: config\`.

\`\`\`yaml
services:
  db:
    volumes:
      - data:/var/lib/data
volumes:
  data:
\`\`\``,
  text: (p: { source: string; claim: string; isTracked: boolean }) => ({
    message: `${p.isTracked ? `git tracks nothing in \`${p.source}\`` : `\`${p.source}\` holds nothing to copy`}; the claim \`${p.claim}\` takes its place`,
    hint: 'use a named volume',
  }),
})

const emptyReadOnly = diagnostic({
  code: 'volumes/host-empty',
  severity: 'warning',
  loss: true,
  explain:
    'The host folder is empty and no service writes to it, so there is nothing to give to the service but an empty folder. Often its files have yet to be generated.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is empty; the service gets an empty folder`,
    hint: 'make the files before the manifests are made',
  }),
})

const missingOutside = diagnostic({
  code: 'volumes/host-missing-outside',
  severity: 'warning',
  loss: true,
  explain:
    'The host path is no part of the project, in the home folder for instance, and it is not there on this machine. Nothing is mounted. What a person has on their machine is not in a cluster either: use a secret, a config or a named volume.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` does not exist on this machine and is not mounted`,
    hint: 'use a secret, a config or a named volume',
  }),
})

const socket = diagnostic({
  code: 'volumes/host-socket',
  severity: 'warning',
  loss: true,
  explain:
    'Sockets, devices and time zone files of your machine are no part of a cluster. A node has no Docker socket, and its devices are given out by device plugins. The mount is left out. For the time zone set `TZ` in `environment`.',
  text: (p: { source: string; hint: string | undefined }) => ({
    message: `\`${p.source}\` has no equivalent in a cluster and is not mounted`,
    hint: p.hint,
  }),
})

const systemPath = diagnostic({
  code: 'volumes/host-system',
  severity: 'warning',
  loss: true,
  explain:
    'The path belongs to the operating system. It is mounted from the node that the Pod runs on, not from your machine; Pod Security `baseline` and `restricted` refuse such Pods.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is mounted from whatever node the Pod runs on`,
    hint: 'leave it out unless the service watches its node',
  }),
})

const copied = diagnostic({
  code: 'volumes/host-copied',
  severity: 'info',
  explain:
    'A cluster does not see the files of your machine. Small files and folders are copied into a ConfigMap when the manifests are made, and mounted read-only. A change reaches the cluster with the next deploy.',
  text: (p: { source: string }) => ({ message: `\`${p.source}\` is copied into a ConfigMap and mounted read-only` }),
})

const readOnly = diagnostic({
  code: 'volumes/host-read-only',
  severity: 'warning',
  loss: true,
  explain: `A cluster does not see the files of your machine. What git tracks at the host path, or outside a checkout what is there, is copied into a ConfigMap, which cannot be written to. If the service only reads it, say so; if it writes, give it a volume.

\`\`\`yaml
volumes:
  - ./conf:/etc/app:ro      # a copy, read-only
  - data:/var/lib/app       # a volume to write to
\`\`\``,
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is copied into a ConfigMap, which the service cannot write to`,
    hint: 'add `:ro` if it only reads, or use a named volume',
  }),
})

const readOnlySecret = diagnostic({
  code: 'volumes/host-secret',
  severity: 'warning',
  loss: true,
  explain: `The path or a file in it looks like keys, or it lies outside the project. It is copied into a Secret, like an entry of \`secrets\`, and a Secret cannot be written to. If the service only reads it, say so.

\`\`\`yaml
volumes:
  - ~/.aws:/root/.aws:ro
\`\`\``,
  text: (p: { source: string; why: string }) => ({
    message: `\`${p.source}\` ${p.why}: it is copied into a Secret, which the service cannot write to`,
    hint: 'add `:ro` if it only reads, or use a named volume',
  }),
})

const expectedInImage = diagnostic({
  code: 'volumes/host-expected-in-image',
  severity: 'warning',
  explain: `The host path is larger than 1 MiB, which does not fit into a ConfigMap, and an image is given for the service (\`--image\`, \`--images-file\`, or the manifest). The path is not mounted: the image has to hold the files, which devctl cannot see. Say that it does:

\`\`\`yaml
volumes:
  - type: bind
    source: ./site
    target: /usr/share/nginx/html
    read_only: true
    x-mount: skip
\`\`\``,
  text: (p: { source: string; target: string; service: string }) => ({
    message: `\`${p.source}\` is larger than 1 MiB and is not mounted: the image given for \`${p.service}\` has to hold it at \`${p.target}\``,
    hint: 'add `x-mount: skip` if it does',
  }),
})

const asSecret = diagnostic({
  code: 'volumes/host-as-secret',
  severity: 'info',
  explain:
    'The path or a file in it looks like keys, or it lies outside the project. Its content goes into a Secret instead of a ConfigMap. `x-mount: config` on the long form of the mount makes it a ConfigMap.',
  text: (p: { source: string; why: string }) => ({ message: `\`${p.source}\` ${p.why}, and becomes a Secret` }),
})

const leftOut = diagnostic({
  code: 'volumes/host-left-out',
  severity: 'warning',
  loss: true,
  explain:
    'The folder is copied into the cluster without the files that git does not track, and outside a checkout without `.git` and what `.gitignore` names: other machines do not have them, or have others. Track what the service needs, and give secrets and data a mount of their own.',
  text: (p: { source: string; names: readonly string[]; isTracked: boolean }) => ({
    message: `${p.isTracked ? `what git does not track in \`${p.source}\`` : `what git would not track in \`${p.source}\``} is left out: ${listed(p.names)}`,
    hint: 'track what the service needs',
  }),
})

const deleted = diagnostic({
  code: 'volumes/host-deleted',
  severity: 'warning',
  loss: true,
  explain:
    'Git tracks files at the host path that are not in the working tree. They are left out; other machines have them until the deletion is committed.',
  text: (p: { source: string; names: readonly string[] }) => ({
    message: `files that git tracks in \`${p.source}\` are not there and are left out: ${listed(p.names)}`,
    hint: 'restore them with `git checkout`, or remove them with `git rm`',
  }),
})

const notTracked = diagnostic({
  code: 'volumes/host-not-tracked',
  severity: 'warning',
  explain:
    'The file is there on this machine and git does not track it, so that other machines do not have it: a deploy from there is refused. Track it; or, for a key, make a Secret in the cluster and use it with `secrets` and `external: true`. `x-mount: config` or `x-mount: secret` says that it is meant so.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is not tracked by git, so other machines do not have it`,
    hint: 'track it, or add `x-mount: config` or `x-mount: secret` if it is meant so',
  }),
})

const unversioned = diagnostic({
  code: 'volumes/host-unversioned',
  severity: 'warning',
  explain:
    'In a git checkout a host path holds what git tracks there, so that every machine makes the same of it. Without one, or where git does not answer, it holds what is there on this machine, without `.git` and what `.gitignore` names; a folder that is missing or empty is data, and becomes a claim. A checkout counts when it tracks anything in the folder of the project.',
  text: (p: { source: string; others: number; why: string | undefined }) => ({
    message: `${p.why === undefined ? 'the project is not in a git checkout' : `git cannot say what it tracks (${p.why})`}: the files of this machine are copied, of \`${p.source}\`${p.others > 0 ? ` and ${p.others} more` : ''}`,
    hint: p.why === undefined ? 'add the project to a git repository' : 'mend the checkout, or install git',
  }),
})

/** What planning host volumes needs besides the project. */
export interface HostVolumes {
  readonly world: HostWorld
  readonly claimOf: (path: string) => FolderClaim
  readonly once: Once
  /** What is copied from this machine as it is: reported together when all is planned. */
  readonly unversioned: Map<string, Span>
}

/**
 * Decides what becomes of a host volume (decisions, "Host volumes"). Undefined when nothing is mounted; reports why.
 */
export function planHostVolume(
  context: PlanContext,
  hosts: HostVolumes,
  service: Service,
  mount: HostMount,
): StoredMount | undefined {
  const { reporter, project } = context
  const source = shown(mount.source, project.directory)
  const fate = fateOf(context, hosts.world, service, mount)
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
      reporter.report(missingOutside, mount.sourceSpan, { source })
      return undefined
    case 'copy':
      return copy(context, hosts, service, mount, fate)
    case 'claim':
      return claim(context, hosts, service, mount, fate.why)
    case 'nothing-to-read':
      if (fate.state === 'empty' && !mount.as) {
        reporter.report(emptyReadOnly, mount.sourceSpan, { source })
        return stored(mount, { kind: 'empty', name: slug(mount.target) || 'root' })
      }
      reportFailed(reporter, fate, service, mount, source)
      return undefined
    case 'too-large':
      // What is named for the service is taken to hold what Compose would have mounted; nobody can look.
      if (mount.readOnly && context.options.images?.has(service.name))
        reporter.report(expectedInImage, mount.sourceSpan, { source, target: mount.target, service: service.name })
      else reportFailed(reporter, fate, service, mount, source)
      return undefined
    default:
      reportFailed(reporter, fate, service, mount, source)
      return undefined
  }
}

function nodeFolder(mount: HostMount): StoredMount {
  const type = mount.createHostPath ? undefined : 'Directory'
  const name = `host-${slug(mount.source) || 'root'}`
  return stored(mount, { kind: 'hostPath', name, path: mount.source, ...(type && { type }) })
}

/** The claim of a folder that is data. That of a built service is filled from its image, which may hold files there. */
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
    const isTracked = world.reader.checkout !== undefined && isInProject(context, world, mount.source)
    const source = shown(mount.source, context.project.directory)
    context.reporter.report(becameClaim, mount.sourceSpan, { source, claim: folder.claim, isTracked })
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

/** Tells what other machines would not have. */
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

/** Reports, once for the project, that host paths hold what is on this machine. */
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
