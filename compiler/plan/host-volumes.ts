import { diagnostic } from '../diagnostics/diagnostic.ts'
import { mayRead } from '../project/outside.ts'
import type { Service } from '../project/project.ts'
import type { PlanContext } from './context.ts'
import { copyFiles } from './host-copies.ts'
import { readHostPath } from './host-files.ts'
import { type HostMount, stored } from './host-mount.ts'
import { isInside, isSpecial, isSystem, shown } from './host-paths.ts'
import { slug } from './object-names.ts'
import { planOwnClaim } from './own-claim.ts'
import type { StoredMount } from './stored-mount.ts'

const synchronized = diagnostic({
  code: 'volumes/synchronized',
  severity: 'info',
  explain:
    'A service that is built has its files in its image. Its host volumes are for development: `devctl up` synchronizes them with the container; a deployment does not mount them.',
  text: (p: { source: string; service: string }) => ({
    message: `\`${p.source}\` is not mounted: the image that is built for \`${p.service}\` holds the files`,
  }),
})

const becameClaim = diagnostic({
  code: 'volumes/host-claim',
  severity: 'warning',
  loss: true,
  explain: `The host folder is missing or empty, so the service keeps its data there. In a cluster that data needs a claim; one was made for this mount. A named volume says the same in both worlds, and can be given a size and a class.

\`\`\`yaml
services:
  db:
    volumes:
      - data:/var/lib/data
volumes:
  data:
\`\`\``,
  text: (p: { source: string; claim: string }) => ({
    message: `\`${p.source}\` holds nothing to copy; the claim \`${p.claim}\` takes its place`,
    hint: 'use a named volume',
  }),
})

const emptyReadOnly = diagnostic({
  code: 'volumes/host-empty',
  severity: 'warning',
  loss: true,
  explain:
    'The host folder is empty and is mounted read-only, so there is nothing to give to the service but an empty folder. Often its files have yet to be generated.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is empty; the service gets an empty folder`,
    hint: 'make the files before the manifests are made',
  }),
})

const missing = diagnostic({
  code: 'volumes/host-missing',
  severity: 'error',
  explain:
    'The host path does not exist. Mounted read-only there would be nothing to read; and in the long form without `bind.create_host_path` Compose itself refuses to start. Often the path is mistyped, or a file has yet to be generated.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` does not exist`,
    hint: 'check the path, or make the files before the manifests are made',
  }),
})

const tooLarge = diagnostic({
  code: 'volumes/host-too-large',
  severity: 'error',
  explain: `A cluster does not see the files of your machine, and more than 1 MiB does not fit into a ConfigMap. What the service only reads belongs into an image; what it writes, into a named volume.

\`\`\`yaml
services:
  web:
    build:
      context: .
      dockerfile_inline: |
        FROM nginx:1.27
        COPY site /usr/share/nginx/html
\`\`\``,
  text: (p: { source: string; service: string; readOnly: boolean }) => ({
    message: `\`${p.source}\` is larger than 1 MiB and cannot be copied into the cluster`,
    hint: p.readOnly
      ? `build an image that holds it, or name one that does with \`--image ${p.service}=REFERENCE\``
      : 'use a named volume, or add `:ro` and build an image that holds the files',
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

const unreadable = diagnostic({
  code: 'volumes/host-unreadable',
  severity: 'error',
  explain: 'The file or folder cannot be read, so it cannot be copied into the cluster. Check its permissions.',
  text: (p: { source: string; reason: string }) => ({ message: `\`${p.source}\` cannot be read: ${p.reason}` }),
})

/**
 * Decides what becomes of a host volume (decisions, "Host volumes"). Undefined when nothing is mounted; reports why.
 */
export function planHostVolume(context: PlanContext, service: Service, mount: HostMount): StoredMount | undefined {
  const { reporter, project, host } = context
  const source = shown(mount.source, project.directory)
  if (service.build) {
    reporter.report(synchronized, mount.sourceSpan, { source, service: service.name })
    return undefined
  }
  const inside =
    isInside(mount.source, project.directory) && isInside(host.realPath(mount.source), host.realPath(project.directory))
  if (!inside && (isSpecial(mount.source) || host.stat(mount.source)?.kind === 'other')) {
    const hint = /^\/etc\/(localtime|timezone)$/.test(mount.source) ? 'set `TZ` in `environment`' : undefined
    reporter.report(socket, mount.sourceSpan, { source, hint })
    return undefined
  }
  if (!inside && isSystem(mount.source)) {
    reporter.report(systemPath, mount.sourceSpan, { source })
    const type = mount.createHostPath ? undefined : 'Directory'
    return stored(mount, {
      kind: 'hostPath',
      name: `host-${slug(mount.source) || 'root'}`,
      path: mount.source,
      ...(type && { type }),
    })
  }
  const content = readHostPath(host, mount.source, path => mayRead(host, path, mount.sourceSpan, reporter))
  switch (content.kind) {
    case 'refused':
      return undefined
    case 'special':
      reporter.report(socket, mount.sourceSpan, { source, hint: undefined })
      return undefined
    case 'unreadable':
      reporter.report(unreadable, mount.sourceSpan, { source, reason: content.reason })
      return undefined
    case 'missing':
      if (!mount.createHostPath || mount.readOnly) {
        reporter.report(missing, mount.sourceSpan, { source })
        return undefined
      }
      return withoutContent(context, service, mount, source)
    case 'empty':
      return withoutContent(context, service, mount, source)
    case 'too-large': {
      // An image that the command names for the service holds what Compose would have mounted.
      if (mount.readOnly && context.options.images?.has(service.name)) return undefined
      reporter.report(tooLarge, mount.sourceSpan, { source, service: service.name, readOnly: mount.readOnly })
      return undefined
    }
    case 'file':
      return copyFiles(context, service, mount, { source, isInside: inside, files: [content.file], isFolder: false })
    case 'folder':
      return copyFiles(context, service, mount, { source, isInside: inside, files: content.files, isFolder: true })
  }
}

/** A missing or empty folder: a claim, or nothing to read. */
function withoutContent(context: PlanContext, service: Service, mount: HostMount, source: string): StoredMount {
  const part = slug(mount.target) || 'root'
  if (mount.readOnly) {
    context.reporter.report(emptyReadOnly, mount.sourceSpan, { source })
    return stored(mount, { kind: 'empty', name: part })
  }
  const claim = planOwnClaim(context, service, mount)
  context.reporter.report(becameClaim, mount.sourceSpan, { source, claim })
  return stored(mount, {
    kind: 'claim',
    claim,
    directory: claim,
    description: `the folder \`${source}\``,
    access: 'ReadWriteOnce',
    // A folder of the host is never filled from the image.
    fill: false,
  })
}
