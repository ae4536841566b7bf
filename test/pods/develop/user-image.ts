import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const REGISTRY = 'http://127.0.0.1:5000/v2'
const LAYER = 'application/vnd.oci.image.layer.v1.tar'
const TYPE = 'application/vnd.oci.image.manifest.v1+json'

interface Descriptor {
  readonly digest: string
  readonly size: number
}

/** Pushes busybox with another `USER` to the registry of the test cluster, and returns its name. */
export const imageWithUser = (user: string): Promise<string> =>
  pushBusybox(`mirror/user-${user.replace(':', '-')}`, { user })

/** Pushes busybox with more files, given by their absolute paths, and returns its name. */
export const imageWithFiles = (name: string, files: Readonly<Record<string, string>>): Promise<string> =>
  pushBusybox(`mirror/${name}`, { files })

async function pushBusybox(
  name: string,
  { user, files }: { readonly user?: string; readonly files?: Readonly<Record<string, string>> },
): Promise<string> {
  const from = `${REGISTRY}/library/busybox`
  const manifest = (await (await fetch(`${from}/manifests/1.37`, { headers: { accept: TYPE } })).json()) as {
    config: Descriptor
    layers: Descriptor[]
  }
  const config = (await (await fetch(`${from}/blobs/${manifest.config.digest}`)).json()) as {
    config: object
    rootfs: { diff_ids: readonly string[] }
  }
  for (const { digest } of manifest.layers) await mount(name, digest)
  const layer = files && layerOf(files)
  const added = layer ? [{ mediaType: LAYER, digest: await upload(name, layer), size: layer.length }] : []
  const text = Buffer.from(
    JSON.stringify({
      ...config,
      config: { ...config.config, ...(user !== undefined && { User: user }) },
      rootfs: { ...config.rootfs, diff_ids: [...config.rootfs.diff_ids, ...added.map(one => one.digest)] },
    }),
  )
  const digest = await upload(name, text)
  const body = JSON.stringify({
    ...manifest,
    config: { ...manifest.config, digest, size: text.length },
    layers: [...manifest.layers, ...added],
  })
  const put = await fetch(`${REGISTRY}/${name}/manifests/1`, { method: 'PUT', headers: { 'content-type': TYPE }, body })
  if (!put.ok) throw new Error(`${name}: ${put.status} ${await put.text()}`)
  return `127.0.0.1:5000/${name}:1`
}

/** Returns a tar of files, with the folders that they are in. */
function layerOf(files: Readonly<Record<string, string>>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-layer-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return execFileSync('tar', ['-C', folder, '--owner=0', '--group=0', '-cf', '-', ...readdirSync(folder)])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Mounts a layer of busybox into a repository: the registry waits for the disk several times for an upload, once for a
 * mount.
 */
async function mount(name: string, digest: string): Promise<void> {
  const query = `mount=${digest}&from=library/busybox`
  const answer = await fetch(`${REGISTRY}/${name}/blobs/uploads/?${query}`, { method: 'POST' })
  if (answer.status !== 201) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
}

async function upload(name: string, blob: Buffer): Promise<string> {
  const digest = `sha256:${createHash('sha256').update(blob).digest('hex')}`
  const begun = await fetch(`${REGISTRY}/${name}/blobs/uploads/`, { method: 'POST' })
  const location = new URL(begun.headers.get('location')!, REGISTRY)
  location.searchParams.set('digest', digest)
  const put = await fetch(location, { method: 'PUT', body: new Uint8Array(blob) })
  if (!put.ok) throw new Error(`${name}: ${put.status} ${await put.text()}`)
  return digest
}
