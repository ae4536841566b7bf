import { shortHash } from '../../values/dns-name.ts'
import type { KeyPath } from '../plan.ts'

/** Capacity of a ConfigMap or Secret in bytes: Kubernetes limits the values to 1 MiB. */
export const mostBytes = 1024 * 1024

/** A file of a host folder. */
export interface HostFile {
  /** Path relative to the folder, or the name of a single file. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly executable: boolean
}

/**
 * Returns the files of a folder in the form of a ConfigMap: the contents by key, and the path at which each key is
 * mounted. The keys differ from the paths, because a key cannot contain `/`.
 */
export function toKeys(files: readonly HostFile[]): {
  readonly data: Readonly<Record<string, Uint8Array>>
  readonly items: readonly KeyPath[]
} {
  const data: Record<string, Uint8Array> = {}
  const items: KeyPath[] = []
  for (const { path, bytes, executable } of files) {
    let key = objectKey(path)
    if (Object.hasOwn(data, key)) key = `${key.slice(0, 240)}-${shortHash(path)}`
    data[key] = bytes
    items.push({ key, path, ...(executable && { mode: 0o755 }) })
  }
  return { data, items }
}

/** Converts a file path to a key of a ConfigMap or Secret. */
export function objectKey(path: string): string {
  const key = path.replaceAll('/', '__').replace(/[^-._a-zA-Z0-9]/g, '_')
  const isReserved = key === '.' || key === '..' || key.startsWith('..')
  if (key.length <= 253 && !isReserved) return key
  return `${key.replace(/^\.+/, '').slice(0, 240)}-${shortHash(path)}`
}

/** Returns a hash of names and contents, for the names of objects that must not change while Pods use them. */
export function contentHash(data: Readonly<Record<string, Uint8Array>>): string {
  const parts = Object.keys(data)
    .sort()
    .flatMap(key => [Buffer.from(`${key}\0${data[key]!.length}\0`), data[key]!])
  return shortHash(Buffer.concat(parts))
}
