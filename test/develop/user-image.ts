import { createHash } from 'node:crypto'

const REGISTRY = 'http://127.0.0.1:5000/v2'
const TYPE = 'application/vnd.oci.image.manifest.v1+json'

interface Descriptor {
  readonly digest: string
  readonly size: number
}

/** Pushes busybox with another `USER` to the registry of the test cluster; gives its name. */
export async function imageWithUser(user: string): Promise<string> {
  const from = `${REGISTRY}/library/busybox`
  const manifest = (await (await fetch(`${from}/manifests/1.37`, { headers: { accept: TYPE } })).json()) as {
    config: Descriptor
    layers: Descriptor[]
  }
  const config = (await (await fetch(`${from}/blobs/${manifest.config.digest}`)).json()) as { config: object }
  const name = `mirror/user-${user.replace(':', '-')}`
  for (const { digest } of manifest.layers)
    await upload(name, Buffer.from(await (await fetch(`${from}/blobs/${digest}`)).arrayBuffer()))
  const text = Buffer.from(JSON.stringify({ ...config, config: { ...config.config, User: user } }))
  const digest = await upload(name, text)
  const body = JSON.stringify({ ...manifest, config: { ...manifest.config, digest, size: text.length } })
  const put = await fetch(`${REGISTRY}/${name}/manifests/1`, { method: 'PUT', headers: { 'content-type': TYPE }, body })
  if (!put.ok) throw new Error(`${name}: ${put.status} ${await put.text()}`)
  return `127.0.0.1:5000/${name}:1`
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
