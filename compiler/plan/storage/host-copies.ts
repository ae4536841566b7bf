import { basename, relative } from 'node:path/posix'
import type { Service } from '../../compose/project.ts'
import { shortHash } from '../../values/dns-name.ts'
import { type PlanContext, sourceOf } from '../context.ts'
import { serviceAnnotations } from '../labels/annotations.ts'
import { cutName, slug } from '../object-names.ts'
import { contentHash, type HostFile, objectKey, toKeys } from './host-files.ts'
import { type HostMount, stored } from './host-mount.ts'
import { addConfigMap } from './shared-config-maps.ts'
import type { HeldByFiles, StoredMount } from './stored-mount.ts'

/** The files of a host path. `isSecret` is true if they have to go into a Secret. */
export interface HostFiles {
  readonly files: readonly HostFile[]
  readonly isFolder: boolean
  readonly isSecret: boolean
}

/**
 * Copies the files of a host path into a ConfigMap or a Secret of the service. Returns a read-only mount of this
 * object.
 */
export function copyFiles(context: PlanContext, service: Service, mount: HostMount, content: HostFiles): StoredMount {
  const { objects, environment } = context
  const { files, isFolder, isSecret } = content
  const owner = context.names.of(service.name)
  const part = slug(mount.target) || 'root'
  const { data, items } = !isFolder
    ? { data: { [objectKey(files[0]!.path)]: files[0]!.bytes }, items: undefined }
    : toKeys(files)
  const base = cutName(`${environment.name}-${owner}-${part}`, 240)
  // Services that mount the same file share one ConfigMap, and its name stays the same when services are added or
  // removed.
  const shared = cutName(`${environment.name}-${fileName(context, mount)}`, 240)
  // A Secret's name contains no hash of its content, because weak values could be guessed from it.
  const isTaken = (objects.secrets.get(base)?.span ?? mount.span) !== mount.span
  const name = isSecret ? (isTaken ? `${base}-${shortHash(mount.target, 5)}` : base) : `${shared}-${contentHash(data)}`
  const plan = {
    name,
    source: sourceOf(context, mount.span, ['services', service.name, 'volumes']),
    service: owner,
    span: mount.span,
    annotations: serviceAnnotations(context, service),
    data,
    path: `services.${service.name}.volumes.${mount.target}`,
  }
  if (isSecret) objects.secrets.set(name, plan)
  else addConfigMap(context, plan)
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

/**
 * Returns the part of an object name that is derived from a host path. Returns `files` for the project's own folder,
 * because the name of this folder differs between machines.
 */
const fileName = ({ project }: PlanContext, { source }: Pick<HostMount, 'source'>): string =>
  slug(basename(relative(project.directory, source))) || 'files'

const secretName =
  /(^|\/)(\.env[^/]*|\.ssh|\.aws|\.gnupg|\.kube|id_(rsa|dsa|ecdsa|ed25519)|[^/]*\.(pem|key|p12|pfx))(\/|$)/i

/**
 * Returns the reason why a host path is treated as secret keys, as a clause: the name of the path, or the name or first
 * lines of one of its files. Returns undefined for other paths.
 */
export function whySecret(source: string, files: readonly HostFile[], isFolder: boolean): string | undefined {
  if (secretName.test(source)) return 'looks like keys'
  const key = files.find(({ path, bytes }) => secretName.test(path) || isPrivateKey(bytes))
  if (!key) return undefined
  return isFolder ? `holds \`${key.path}\`, which looks like a key` : 'looks like keys'
}

const isPrivateKey = (bytes: Uint8Array): boolean =>
  /^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(new TextDecoder('latin1').decode(bytes.subarray(0, 200)))
