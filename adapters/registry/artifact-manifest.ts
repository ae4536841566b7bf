import { createHash } from 'node:crypto'
import { parseJson } from '../json/parse-json.ts'
import { artifactManifest } from './answers.validators.ts'

/**
 * Media type of the configuration of Flux artifacts; `flux list artifacts` and `flux pull artifact` check it
 * (https://fluxcd.io/flux/cheatsheets/oci-artifacts/).
 */
const CONFIG_TYPE = 'application/vnd.cncf.flux.config.v1+json'
/**
 * Media type of the layer. Flux accepts a first layer of any type. Argo CD requires exactly one layer, of a type in its
 * list, which contains this type unless an administrator has changed the list
 * (https://argo-cd.readthedocs.io/en/stable/user-guide/oci/).
 */
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip'
export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'

/** Content that a registry stores under its digest. */
export interface Blob {
  readonly digest: string
  readonly bytes: Uint8Array
}

/** A folder as an artifact: a manifest, and the two blobs that it references. */
export interface Artifact {
  readonly manifest: Blob
  readonly blobs: readonly Blob[]
}

/**
 * Returns an artifact with one layer, a `.tar.gz`. The same input produces the same bytes
 * (https://github.com/opencontainers/image-spec/blob/main/manifest.md).
 */
export function toArtifact(layer: Uint8Array, annotations: Readonly<Record<string, string>>): Artifact {
  const blobs = { config: toBlob(Buffer.from('{}')), layer: toBlob(layer) }
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: descriptor(CONFIG_TYPE, blobs.config),
    layers: [descriptor(LAYER_TYPE, blobs.layer)],
    annotations: Object.fromEntries(Object.entries(annotations).sort(([a], [b]) => (a < b ? -1 : 1))),
  }
  return { manifest: toBlob(Buffer.from(JSON.stringify(manifest))), blobs: [blobs.config, blobs.layer] }
}

/**
 * Returns the layer of a manifest in the form that `toArtifact` creates; undefined for images and for artifacts of
 * other programs.
 */
export function layerOf(manifest: Uint8Array): { readonly digest: string; readonly size: number } | undefined {
  const read = parseJson(Buffer.from(manifest).toString('utf8'), artifactManifest)
  if (!read.ok) return undefined
  const { config, layers } = read.value
  const [layer, ...others] = layers
  const isOurs = config.mediaType === CONFIG_TYPE && layer?.mediaType === LAYER_TYPE && others.length === 0
  return isOurs ? { digest: layer.digest, size: layer.size } : undefined
}

const digestOfBytes = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

const toBlob = (bytes: Uint8Array): Blob => ({ bytes, digest: digestOfBytes(bytes) })

const descriptor = (mediaType: string, { digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length })
