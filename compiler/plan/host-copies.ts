import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { Service } from '../project/project.ts'
import { shortHash } from '../values/dns-name.ts'
import { serviceAnnotations } from './annotations.ts'
import { type PlanContext, sourceOf } from './context.ts'
import { contentHash, type HostFile, objectKey, toKeys } from './host-files.ts'
import { type HostMount, stored } from './host-mount.ts'
import { cutName, slug } from './object-names.ts'
import type { HeldByFiles, StoredMount } from './stored-mount.ts'

const copied = diagnostic({
  code: 'volumes/host-copied',
  severity: 'info',
  explain:
    'A cluster does not see the files of your machine. Small files and folders are copied into a ConfigMap when the manifests are made, and mounted read-only. A change reaches the cluster with the next deploy.',
  text: (p: { source: string }) => ({ message: `\`${p.source}\` is copied into a ConfigMap and mounted read-only` }),
})

const copiedReadOnly = diagnostic({
  code: 'volumes/host-read-only',
  severity: 'warning',
  loss: true,
  explain: `A cluster does not see the folders of your machine. A small folder is copied into a ConfigMap, which cannot be written to. If the service only reads it, say so; if it writes, give it a volume.

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

const writableSecret = diagnostic({
  code: 'volumes/host-secret',
  severity: 'error',
  explain: `The path looks like keys, or lies outside the project, so it is never copied into a ConfigMap. Mounted read-only it is treated like an entry of \`secrets\`; writable it cannot be had in a cluster.

\`\`\`yaml
volumes:
  - ~/.aws:/root/.aws:ro
\`\`\``,
  text: (p: { source: string; why: string }) => ({
    message: `\`${p.source}\` ${p.why}, and is mounted writable`,
    hint: 'add `:ro` to treat it as a secret, or use a named volume',
  }),
})

const asSecret = diagnostic({
  code: 'volumes/host-as-secret',
  severity: 'info',
  explain:
    'The path looks like keys, or lies outside the project. Its content goes into a Secret instead of a ConfigMap.',
  text: (p: { source: string; why: string }) => ({ message: `\`${p.source}\` ${p.why}, and becomes a Secret` }),
})

/** What a host path holds. */
export interface HostFiles {
  /** As messages call it. */
  readonly source: string
  /** Whether it lies in the project. */
  readonly isInside: boolean
  readonly files: readonly HostFile[]
  readonly isFolder: boolean
}

/** Files small enough to be copied: a ConfigMap, or a Secret for what looks like keys. */
export function copyFiles(
  context: PlanContext,
  service: Service,
  mount: HostMount,
  { source, isInside, files, isFolder }: HostFiles,
): StoredMount | undefined {
  const { reporter, objects, environment } = context
  const why = !isInside ? 'lies outside the project' : looksSecret(source, files) ? 'looks like keys' : undefined
  if (why && !mount.readOnly) {
    reporter.report(writableSecret, mount.sourceSpan, { source, why })
    return undefined
  }
  const owner = context.names.of(service.name)
  const part = slug(mount.target) || 'root'
  const { data, items } = !isFolder
    ? { data: { [objectKey(files[0]!.path)]: files[0]!.bytes }, items: undefined }
    : toKeys(files)
  const isSecret = why !== undefined
  if (isSecret) reporter.report(asSecret, mount.sourceSpan, { source, why })
  else if (!isFolder || mount.readOnly) reporter.report(copied, mount.sourceSpan, { source })
  else reporter.report(copiedReadOnly, mount.sourceSpan, { source })
  const base = cutName(`${environment.name}-${owner}-${part}`, 240)
  // No hash of a secret in a name: weak values could be guessed from it.
  const isTaken = (objects.secrets.get(base)?.span ?? mount.span) !== mount.span
  const name = isSecret ? (isTaken ? `${base}-${shortHash(mount.target, 5)}` : base) : `${base}-${contentHash(data)}`
  const plan = {
    name,
    source: sourceOf(context, mount.span, `services.${service.name}.volumes`),
    service: owner,
    span: mount.span,
    annotations: serviceAnnotations(context, service),
    data,
    path: `services.${service.name}.volumes.${mount.target}`,
  }
  if (isSecret) objects.secrets.set(name, plan)
  else objects.configMaps.set(name, plan)
  const mode = !isFolder && files[0]!.executable ? 0o755 : isSecret ? 0o444 : undefined
  const held: HeldByFiles = {
    kind: isSecret ? 'secret' : 'configMap',
    name: `host-${part}`,
    object: name,
    ...(mode !== undefined && { mode }),
    ...(items && { items }),
    ...(!isFolder && { subPath: Object.keys(data)[0]! }),
  }
  return { ...stored(mount, held), readOnly: true }
}

const secretName =
  /(^|\/)(\.env[^/]*|\.ssh|\.aws|\.gnupg|\.kube|id_(rsa|dsa|ecdsa|ed25519)|[^/]*\.(pem|key|p12|pfx))(\/|$)/i

function looksSecret(source: string, files: readonly HostFile[]): boolean {
  return secretName.test(source) || files.some(({ path }) => secretName.test(path))
}
