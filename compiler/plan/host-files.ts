import { basename, join } from 'node:path/posix'
import type { CompilerHost } from '../host.ts'
import { shortHash } from '../values/dns-name.ts'
import type { KeyPath } from './plan.ts'

/** What a ConfigMap or Secret can hold: 1 MiB of values, which is Kubernetes' limit. */
export const mostBytes = 1024 * 1024

/** A file of a host folder. */
export interface HostFile {
  /** Relative to the folder; of a single file its name. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly executable: boolean
}

export type HostContent =
  | { readonly kind: 'missing' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'file'; readonly file: HostFile }
  | { readonly kind: 'folder'; readonly files: readonly HostFile[] }
  | { readonly kind: 'too-large'; readonly isFolder: boolean }
  | { readonly kind: 'special' }
  /** Something in it is outside of the project, which has been reported. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreadable'; readonly reason: string }

/**
 * Reads what a host path holds, as far as it fits into one object. Sizes are asked for before files are read, so that a
 * large folder costs little.
 * `mayRead` is asked before anything is read, with links that lead elsewhere in mind.
 */
export function readHostPath(host: CompilerHost, path: string, mayRead: MayRead): HostContent {
  const stat = host.stat(path)
  if (!stat) return { kind: 'missing' }
  if (!mayRead(path)) return { kind: 'refused' }
  if (stat.kind === 'other') return { kind: 'special' }
  if (stat.kind === 'file') {
    if (stat.size > mostBytes) return { kind: 'too-large', isFolder: false }
    const content = host.readFile(path)
    if (content.kind === 'unreadable') return content
    if (content.kind !== 'file') return { kind: 'missing' }
    return {
      kind: 'file',
      file: { path: basename(path), bytes: content.bytes, executable: content.executable ?? false },
    }
  }
  return readFolder(host, path, mayRead)
}

type MayRead = (path: string) => boolean

function readFolder(host: CompilerHost, root: string, mayRead: MayRead): HostContent {
  const paths: string[] = []
  const folders = ['']
  // A link may lead back up; each folder is entered once.
  const entered = new Set<string>()
  let bytes = 0
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const real = host.realPath(join(root, folder))
    if (entered.has(real)) continue
    entered.add(real)
    if (!mayRead(join(root, folder))) return { kind: 'refused' }
    for (const entry of host.readDirectory(join(root, folder)) ?? []) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const stat = host.stat(join(root, path))
      if (stat?.kind === 'folder') folders.push(path)
      if (stat?.kind !== 'file') continue
      bytes += stat.size
      paths.push(path)
      if (bytes > mostBytes || paths.length > 5000) return { kind: 'too-large', isFolder: true }
    }
  }
  if (paths.length === 0) return { kind: 'empty' }
  const files: HostFile[] = []
  for (const path of paths.sort()) {
    if (!mayRead(join(root, path))) return { kind: 'refused' }
    const content = host.readFile(join(root, path))
    if (content.kind === 'unreadable') return { kind: 'unreadable', reason: `${path}: ${content.reason}` }
    if (content.kind === 'file') files.push({ path, bytes: content.bytes, executable: content.executable ?? false })
  }
  return { kind: 'folder', files }
}

/** Keys for the files of a folder, which may hold no `/`, and the paths that they are mounted at. */
export function toKeys(files: readonly HostFile[]): {
  readonly data: Readonly<Record<string, Uint8Array>>
  readonly items: readonly KeyPath[]
} {
  const data: Record<string, Uint8Array> = {}
  const items: KeyPath[] = []
  for (const { path, bytes, executable } of files) {
    let key = objectKey(path)
    if (key in data) key = `${key.slice(0, 240)}-${shortHash(path)}`
    data[key] = bytes
    items.push({ key, path, ...(executable && { mode: 0o755 }) })
  }
  return { data, items }
}

/** A key of a ConfigMap or Secret made of a file's path. */
export function objectKey(path: string): string {
  const key = path.replaceAll('/', '__').replace(/[^-._a-zA-Z0-9]/g, '_')
  const isReserved = key === '.' || key === '..' || key.startsWith('..')
  if (key.length <= 253 && !isReserved) return key
  return `${key.replace(/^\.+/, '').slice(0, 240)}-${shortHash(path)}`
}

/** A hash of names and contents, for the names of objects that may not change while Pods use them. */
export function contentHash(data: Readonly<Record<string, Uint8Array>>): string {
  const parts = Object.keys(data)
    .sort()
    .flatMap(key => [Buffer.from(`${key}\0${data[key]!.length}\0`), data[key]!])
  return shortHash(Buffer.concat(parts))
}
