import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { HostFate } from './host-fate.ts'
import type { HostMount } from './host-mount.ts'

const missing = diagnostic({
  code: 'volumes/host-missing',
  severity: 'error',
  explain:
    'The host path does not exist. Nobody writes to it, or it is named like a file, or `bind.create_host_path` is `false`: a claim in its place would be of no use. Often the path is mistyped, or a file has yet to be generated.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` does not exist`,
    hint: 'check the path, or make the files before the manifests are made',
  }),
})

const untracked = diagnostic({
  code: 'volumes/host-untracked',
  severity: 'error',
  explain: `Git tracks nothing in the folder, so it is empty on other machines, and no service writes to it: there is nothing to read. Track its files, or build an image that holds them. To copy what is there on this machine, say so:

\`\`\`yaml
volumes:
  - type: bind
    source: ./dist
    target: /usr/share/nginx/html
    x-mount: config
\`\`\``,
  text: (p: { source: string }) => ({
    message: `git tracks nothing in \`${p.source}\`, and no service writes to it`,
    hint: 'track its files, or add `x-mount: config` to copy those of this machine',
  }),
})

const gone = diagnostic({
  code: 'volumes/host-gone',
  severity: 'error',
  explain:
    'Git tracks the path, but its files are not in this working tree: they were deleted, a sparse checkout leaves them out, or they belong to a submodule that is not checked out. On other machines the path holds files, so it is not taken for an empty folder.',
  text: (p: { source: string; path: string; why: 'deleted' | 'sparse' | 'submodule' }) => ({
    message: `\`${p.source}\` is tracked by git, but ${WHY_GONE[p.why](p.path)}`,
    hint: HOW_BACK[p.why](p.path),
  }),
})

const WHY_GONE = {
  deleted: (path: string) => `\`${path}\` is not there`,
  sparse: (path: string) => `the sparse checkout leaves \`${path}\` out`,
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
    'Git tracks a path that differs in upper and lower case only. Some file systems take the two for one, others do not, so the mount would hold files on one machine and nothing on another.',
  text: (p: { source: string; as: string }) => ({
    message: `\`${p.source}\` is \`${p.as}\` in git`,
    hint: 'write the path as git has it',
  }),
})

const tooLarge = diagnostic({
  code: 'volumes/host-too-large',
  severity: 'error',
  explain: `A cluster does not see the files of your machine, and more than 1 MiB does not fit into a ConfigMap. What the service only reads belongs into an image; what it writes, into a volume.

\`\`\`yaml
services:
  web:
    build:
      context: .
      dockerfile_inline: |
        FROM nginx:1.27
        COPY site /usr/share/nginx/html
\`\`\`

\`x-mount: claim\` on the long form of the mount makes it an empty volume; \`x-mount: skip\` leaves it out.`,
  text: (p: { source: string; service: string; readOnly: boolean }) => ({
    message: `\`${p.source}\` is larger than 1 MiB and cannot be copied into the cluster`,
    hint: p.readOnly
      ? `build an image that holds it, name one that does with \`--image ${p.service}=REFERENCE\`, or add \`x-mount: skip\``
      : 'add `x-mount: claim` for an empty volume, or `x-mount: skip` to leave it out',
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
    'A claim is mounted as a folder, and the host path is a file. Mount the folder that holds it, or copy the file with `x-mount: config` or `x-mount: secret`.',
  text: (p: { source: string }) => ({
    message: `\`${p.source}\` is a file, and a claim is a folder`,
    hint: 'write `x-mount: config` or `x-mount: secret`',
  }),
})

const notInImage = diagnostic({
  code: 'volumes/host-not-in-image',
  severity: 'warning',
  loss: true,
  explain: `The service is built, but its Dockerfile is not known to copy the host path to where it is mounted, and it cannot be copied into the cluster either. The service starts with what its image holds there.

\`\`\`dockerfile
WORKDIR /app
COPY . .
\`\`\``,
  text: (p: { source: string; target: string; why: string }) => ({
    message: `\`${p.source}\` is not mounted: the Dockerfile is not known to copy it to \`${p.target}\`, and ${p.why}`,
    hint: 'copy it in the Dockerfile, or add `x-mount: claim` or `x-mount: skip`',
  }),
})

type Failed = Extract<
  HostFate,
  {
    kind: 'missing' | 'nothing-to-read' | 'gone' | 'spelt' | 'too-large' | 'unreadable' | 'claim-of-file'
  }
>

/**
 * Reports a host volume that cannot be had. A service that is built starts without it, and a warning is enough; what `x-mount` asks for is wanted in any case.
 */
export function reportFailed(
  reporter: Reporter,
  fate: Failed,
  service: Service,
  mount: HostMount,
  source: string,
): void {
  const span = mount.sourceSpan
  if (service.build && !mount.as) {
    reporter.report(notInImage, span, { source, target: mount.target, why: whyNot(fate) })
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

function whyNot(fate: Failed): string {
  switch (fate.kind) {
    case 'missing':
      return 'it does not exist'
    case 'nothing-to-read':
      return 'it holds nothing'
    case 'gone':
      return WHY_GONE[fate.why](fate.path)
    case 'spelt':
      return `it is \`${fate.as}\` in git`
    case 'too-large':
      return 'it is larger than 1 MiB'
    case 'unreadable':
      return `it cannot be read: ${fate.reason}`
    case 'claim-of-file':
      return 'it is a file'
  }
}
