import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { HostFate } from './host-fate.ts'
import type { HostMount } from './host-mount.ts'

const missing = diagnostic({
  code: 'volumes/host-missing',
  severity: 'error',
  explain:
    'The host path does not exist. devctl does not replace it with a claim, because no service writes to it, its name looks like a file, or `bind.create_host_path` is `false`. Check the path for typos, and if a file still has to be generated.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` does not exist`,
    hint: 'check the path, or generate the files first',
  }),
})

const untracked = diagnostic({
  code: 'volumes/host-untracked',
  severity: 'error',
  explain: `Git tracks no files in the folder, so it is empty on other machines, and no service writes to it. Track its files, or build an image that contains them. To copy the files of this machine:

\`\`\`yaml
volumes:
  - type: bind
    source: ./dist
    target: /usr/share/nginx/html
    x-mount: config
\`\`\``,
  text: (p: { source: string }) => ({
    message: `git tracks no files in \`${p.source}\`, and no service writes to it`,
    hint: 'track its files, or add `x-mount: config` to copy the files of this machine',
  }),
})

const gone = diagnostic({
  code: 'volumes/host-gone',
  severity: 'error',
  explain:
    'Git tracks the path, but its files are not in this working tree: they were deleted, a sparse checkout leaves them out, or they belong to a submodule that is not checked out. On other machines the path has files, so devctl does not treat it as an empty folder.',
  text: (p: { source: string; path: string; why: 'deleted' | 'sparse' | 'submodule' }) => ({
    message: `\`${p.source}\` is tracked by git, but ${WHY_GONE[p.why](p.path)}`,
    hint: HOW_BACK[p.why](p.path),
  }),
})

const WHY_GONE = {
  deleted: (path: string) => `\`${path}\` does not exist`,
  sparse: (path: string) => `the sparse checkout excludes \`${path}\``,
  submodule: (path: string) => `the submodule \`${path}\` is not checked out`,
}

const HOW_BACK = {
  deleted: (path: string) => `restore it with \`git checkout -- ${path}\`, or remove it with \`git rm\``,
  sparse: () => 'add its folder with `git sparse-checkout add`',
  submodule: (path: string) => `run \`git submodule update --init ${path}\``,
}

const spelt = diagnostic({
  code: 'volumes/host-case',
  severity: 'error',
  explain:
    'Git tracks a path that differs only in upper and lower case. Some file systems ignore case, others do not, so the mount would have files on one machine and be empty on another.',
  text: (p: { source: string; as: string }) => ({
    message: `\`${p.source}\` is spelled \`${p.as}\` in git`,
    hint: 'write the path as in git',
  }),
})

const tooLarge = diagnostic({
  code: 'volumes/host-too-large',
  severity: 'error',
  explain: `A cluster cannot access the files on your machine, and more than 1 MiB does not fit into a ConfigMap. Put files that the service only reads into an image, and files that it writes into a volume.

\`\`\`yaml
services:
  web:
    build:
      context: .
      dockerfile_inline: |
        FROM nginx:1.27
        COPY site /usr/share/nginx/html
\`\`\`

\`x-mount: claim\` in the long form of the mount creates an empty volume; \`x-mount: skip\` leaves the mount out. \`devctl up\` and \`devctl deploy\` need neither for a folder that is written to: \`up\` synchronizes it (\`volumes/host-for-up\`).`,
  text: (p: { source: string; service: string; readOnly: boolean }) => ({
    message: `\`${p.source}\` is larger than 1 MiB and cannot be copied into the cluster`,
    hint: p.readOnly
      ? `build an image that contains it, name one with \`--image ${p.service}=REFERENCE\`, or add \`x-mount: skip\``
      : '`devctl up` synchronizes it as it is; for manifests, build an image that contains it, or add `x-mount: claim` for an empty volume',
  }),
})

const unreadable = diagnostic({
  code: 'volumes/host-unreadable',
  severity: 'error',
  explain: 'The file or folder cannot be read, so it cannot be copied into the cluster. Check its permissions.',
  text: (p: { source: string; reason: string }) => ({ message: `\`${p.source}\` cannot be read: ${p.reason}` }),
})

const claimOfFile = diagnostic({
  code: 'volumes/host-claim-of-file',
  severity: 'error',
  explain:
    'A claim is mounted as a folder, but the host path is a file. Mount its folder, or copy the file with `x-mount: config` or `x-mount: secret`.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is a file, but a claim is mounted as a folder`,
    hint: 'write `x-mount: config` or `x-mount: secret`',
  }),
})

const notInImage = diagnostic({
  code: 'volumes/host-not-in-image',
  severity: 'warning',
  loss: true,
  explain: `The service has \`build\`, but devctl found no instruction in its Dockerfile that copies the host path to the mount path, and it cannot be copied into the cluster either. The service starts with the files of its image.

\`\`\`dockerfile
WORKDIR /app
COPY . .
\`\`\``,
  text: (p: { source: string; target: string; why: string; isUntracked: boolean }) => ({
    message: `\`${p.source}\` is not mounted: the Dockerfile does not copy it to \`${p.target}\`, and ${p.why}`,
    hint: `copy it in the Dockerfile, or add ${p.isUntracked ? '`x-mount: config` (the files of this machine), ' : ''}\`x-mount: claim\` or \`x-mount: skip\``,
  }),
})

const FAILED = ['missing', 'nothing-to-read', 'gone', 'spelt', 'too-large', 'unreadable', 'claim-of-file'] as const

/** The decision about a host path whose content is not available. */
export type UnavailableFate = Extract<HostFate, { kind: (typeof FAILED)[number] }>

/** Returns true if the content of a host path is not available. */
export const isFailed = (fate: HostFate): fate is UnavailableFate => FAILED.some(kind => kind === fate.kind)

/**
 * Reports a host volume that is not available. A warning is enough for a service with a `build`, which starts without
 * the volume, unless `x-mount` requests it explicitly.
 */
export function reportFailed(
  reporter: Reporter,
  fate: UnavailableFate,
  service: Service,
  mount: HostMount,
  source: string,
): void {
  const span = mount.sourceSpan
  if (service.build && !mount.as) {
    const isUntracked = fate.kind === 'nothing-to-read' && fate.state === 'untracked'
    reporter.report(notInImage, span, { source, target: mount.target, why: whyNot(fate), isUntracked })
    return
  }
  switch (fate.kind) {
    case 'missing':
      return void reporter.report(missing, span, { source })
    case 'nothing-to-read':
      return void reporter.report(untracked, span, { source })
    case 'gone':
      return void reporter.report(gone, span, { source, path: fate.path, why: fate.why })
    case 'spelt':
      return void reporter.report(spelt, span, { source, as: fate.as })
    case 'too-large':
      return void reporter.report(tooLarge, span, { source, service: service.name, readOnly: mount.readOnly })
    case 'unreadable':
      return void reporter.report(unreadable, span, { source, reason: fate.reason })
    case 'claim-of-file':
      return void reporter.report(claimOfFile, mount.as?.span ?? span, { source })
  }
}

function whyNot(fate: UnavailableFate): string {
  switch (fate.kind) {
    case 'missing':
      return 'it does not exist'
    case 'nothing-to-read':
      return fate.state === 'empty' ? 'it is empty' : 'git tracks no files in it'
    case 'gone':
      return WHY_GONE[fate.why](fate.path)
    case 'spelt':
      return `it is spelled \`${fate.as}\` in git`
    case 'too-large':
      return 'it is larger than 1 MiB'
    case 'unreadable':
      return `it cannot be read: ${fate.reason}`
    case 'claim-of-file':
      return 'it is a file'
  }
}
