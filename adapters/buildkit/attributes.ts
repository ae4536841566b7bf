import { basename } from 'node:path'
import { realPath } from '../files/real-path.ts'
import type { ContextSource, ImageInput, ImageLayout } from './builder.ts'

/**
 * Names under which the session serves two folders: `CONTEXT` for the build context, and `DOCKERFILE` for the folder of
 * the Dockerfile.
 */
export const CONTEXT = 'context'
export const DOCKERFILE = 'dockerfile'
/** File name under which the text of an inline Dockerfile is sent, because such a Dockerfile has no file. */
export const INLINE_DOCKERFILE = 'Dockerfile'

/**
 * Returns the name under which the session serves an additional context that is a folder. Adds the prefix `_` if the
 * build context or the Dockerfile already uses the name.
 */
export const folderName = (name: string): string => (name === CONTEXT || name === DOCKERFILE ? `_${name}` : name)

/**
 * Returns the attributes of the Dockerfile frontend for the input of an image
 * (https://github.com/moby/buildkit/blob/master/frontend/dockerui/config.go). Omits attributes that are left to the
 * builder.
 */
export function frontendAttributes(input: ImageInput): Readonly<Record<string, string>> {
  const { target, noCache, network, extraHosts, shmSize, ulimits, platforms } = input
  return {
    ...sourceAttributes(input),
    ...prefixed(
      'context',
      [...input.contexts].map(([name, source]) => [name, contextValue(name, source)]),
    ),
    ...prefixed('build-arg', input.args),
    ...prefixed('label', input.labels),
    ...(target !== undefined && { target }),
    ...(platforms.length > 0 && { platform: platforms.join(',') }),
    ...(noCache === true && { 'no-cache': '' }),
    ...(noCache !== true && noCache !== false && noCache.length > 0 && { 'no-cache': noCache.join(',') }),
    ...(input.pull && { 'image-resolve-mode': 'pull' }),
    // The frontend uses the default network if the attribute is missing.
    ...(network !== undefined && network !== 'default' && { 'force-network-mode': network }),
    ...(extraHosts.length > 0 && { 'add-hosts': csv(extraHosts.map(({ host, address }) => `${host}=${address}`)) }),
    ...(shmSize !== undefined && { 'shm-size': String(shmSize) }),
    ...(ulimits.length > 0 && {
      ulimit: csv(ulimits.map(({ name, soft, hard }) => `${name}=${soft}:${hard}`)),
    }),
    ...attestation('provenance', input.provenance),
    ...attestation('sbom', input.sbom),
  }
}

/** Returns the path of a Dockerfile itself, of which BuildKit gets the folder; the given path may be a link. */
export const fileOf = ({ path }: { readonly path: string }): string => realPath(path) ?? path

/** Returns the attributes that name the Dockerfile, and the build context if the builder fetches the context itself. */
function sourceAttributes({ context, dockerfile }: ImageInput): Readonly<Record<string, string>> {
  if ('folder' in context) return { filename: 'path' in dockerfile ? basename(fileOf(dockerfile)) : INLINE_DOCKERFILE }
  if ('path' in dockerfile) return { [CONTEXT]: context.remote, filename: dockerfile.path }
  // The frontend looks for the Dockerfile in the remote context if the key is missing.
  return { [CONTEXT]: context.remote, filename: INLINE_DOCKERFILE, dockerfilekey: DOCKERFILE }
}

function contextValue(name: string, source: ContextSource | ImageLayout): string {
  if ('layout' in source) return `oci-layout://${layoutName(source)}@${source.digest}`
  return 'remote' in source ? source.remote : `local:${folderName(name)}`
}

/**
 * Returns the name under which the session serves an image from a local folder. BuildKit parses the name as an image
 * name.
 */
export const layoutName = ({ digest }: ImageLayout): string => `layout-${digest.replace(/^.*:/, '').slice(0, 12)}`

function attestation(kind: string, parameters: string | false | undefined): Readonly<Record<string, string>> {
  if (parameters === undefined || parameters === false) return {}
  return { [`attest:${kind}`]: parameters === 'true' ? '' : parameters }
}

const prefixed = (prefix: string, values: Iterable<readonly [string, string]>): Readonly<Record<string, string>> =>
  Object.fromEntries([...values].map(([name, value]) => [`${prefix}:${name}`, value]))

/** Joins the fields as an RFC 4180 record, the format of lists in BuildKit attributes. */
export const csv = (fields: readonly string[]): string =>
  fields.map(field => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')
