import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inFolder } from '../../support/buildkit/buildkit.ts'

const run = promisify(execFile)

const ACCEPTED = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')

/** Manifest, or an index of several. */
export interface Manifest {
  readonly config: Blob
  readonly layers: readonly Blob[]
  readonly manifests?: readonly (Blob & {
    readonly platform?: { readonly os: string; readonly architecture: string }
    readonly annotations?: Readonly<Record<string, string>>
  })[]
}

interface Blob {
  readonly digest: string
  readonly size: number
  readonly mediaType: string
}

export interface ImageConfig {
  readonly os: string
  readonly architecture: string
  readonly config: Readonly<Record<string, unknown>>
  readonly rootfs: { readonly diff_ids: readonly string[] }
}

/** Splits `127.0.0.1:5000/name:tag@digest` into the URL of the repository and the digest; ignores the tag. */
function placeOf(reference: string): { readonly url: string; readonly name: string } {
  const [, host, repository, , digest] = /^([^/]+)\/([^:@]+)(:[^@]+)?@(.+)$/.exec(reference)!
  return { url: `http://${host}/v2/${repository}`, name: digest! }
}

/** Reads a manifest of a reference with a digest, or another of the same repository. */
export async function manifestOf(reference: string, digest = placeOf(reference).name): Promise<Manifest> {
  const { url } = placeOf(reference)
  return (await asked(`${url}/manifests/${digest}`)).json() as Promise<Manifest>
}

export const configOf = async (reference: string, manifest: Manifest): Promise<ImageConfig> =>
  JSON.parse(String(await blobOf(reference, manifest.config))) as ImageConfig

export async function blobOf(reference: string, { digest }: Blob): Promise<Buffer> {
  const { url } = placeOf(reference)
  return Buffer.from(await (await asked(`${url}/blobs/${digest}`)).arrayBuffer())
}

async function asked(url: string): Promise<Response> {
  const answer = await fetch(url, { headers: { accept: ACCEPTED } })
  if (answer.ok) return answer
  throw new Error(`${answer.status} from ${url}`)
}

/**
 * Returns the files of the layers from the given one on, as they are in a container: kind and mode, owner, path, target
 * of a link, and the digest of the content. Without folders: old builders leave those of mounts. Needs root for the
 * owners.
 */
export async function filesOf(reference: string, { layers }: Manifest, from: number): Promise<readonly string[]> {
  return inFolder({}, async folder => {
    const files = join(folder, 'files')
    await mkdir(files)
    for (const layer of layers.slice(from)) {
      await writeFile(join(folder, 'layer'), await blobOf(reference, layer))
      await run('tar', ['--numeric-owner', '-xpf', join(folder, 'layer'), '-C', files])
      await run('sh', ['-ec', REMOVE], { cwd: files })
    }
    const { stdout } = await run('sh', ['-ec', LIST], { cwd: files, maxBuffer: 64 << 20 })
    return stdout.split('\n').sort()
  })
}

/** Script that applies the whiteout files of a layer. */
const REMOVE = `find . -name '.wh.*' | while read -r file; do rm -rf "$(dirname "$file")/\${file##*/.wh.}" "$file"; done`

const LIST = "find . ! -type d -printf '%M %U/%G %p %l\\n'; find . -type f -exec sha256sum {} +"
