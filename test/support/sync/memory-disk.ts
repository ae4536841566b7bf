import { type FileEntry, FOLDER, linkEntry } from '../../../sync/core/entry.ts'
import type { Disk } from '../../../sync/stage/disk.ts'

interface Inode {
  readonly number: number
  kind: 'file' | 'folder' | 'link'
  bytes: Buffer
  target: string
  mtime: number
  ctime: number
  executable: boolean
  links: number
  readonly names: Map<string, Inode>
}

interface Watch {
  readonly inode: Inode
  readonly recursive: boolean
  readonly changed: (name: string | undefined) => void
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** A file system in memory, with watchers, that can be made to fail. */
export class MemoryDisk implements Disk {
  readonly #now: () => number
  readonly #soon: (call: () => void) => void
  readonly #root: Inode
  #numbers = 0
  #changes = 0
  readonly #files = new Map<number, Inode>()
  #lastFile = 0
  readonly #watches = new Set<Watch>()
  /** Called before each change; it may throw. */
  fault: (call: string, path: string) => void = () => {}
  space?: Disk['space']
  /** Bytes that may still be written. */
  room = Infinity
  /** True if names that differ only in case refer to the same file, as on macOS. */
  foldsCase = false

  constructor(now: () => number, soon: (call: () => void) => void) {
    this.#now = now
    this.#soon = soon
    this.#root = this.#inode('folder')
  }

  #inode(kind: Inode['kind']): Inode {
    const time = { mtime: this.#now(), ctime: ++this.#changes }
    const number = ++this.#numbers
    return { number, kind, bytes: Buffer.alloc(0), target: '', ...time, executable: false, links: 1, names: new Map() }
  }

  #find(path: string): Inode | undefined {
    let at: Inode | undefined = this.#root
    for (const name of path.split('/').filter(name => name !== '')) {
      if (at?.kind !== 'folder') return undefined
      at = at.names.get(this.#listed(at, name))
    }
    return at
  }

  /** Returns the name under which the folder lists a file, or the given name if there is no such file. */
  #listed({ names }: Inode, name: string): string {
    if (!this.foldsCase || names.has(name)) return name
    return [...names.keys()].find(other => other.toLowerCase() === name.toLowerCase()) ?? name
  }

  #parent(path: string): { readonly folder: Inode; readonly name: string } {
    const end = path.lastIndexOf('/')
    const folder = this.#find(path.slice(0, end))
    if (!folder) throw failure('ENOENT')
    if (folder.kind !== 'folder') throw failure('ENOTDIR')
    return { folder, name: path.slice(end + 1) }
  }

  #tell(folder: Inode, name: string): void {
    for (const watch of this.#watches) {
      const above = watch.inode === folder ? '' : watch.recursive ? pathBelow(watch.inode, folder) : undefined
      if (above === undefined) continue
      this.#soon(() => {
        if (this.#watches.has(watch)) watch.changed(`${above}${name}`)
      })
    }
  }

  #tellOf(inode: Inode): void {
    inode.ctime = ++this.#changes
    const look = (folder: Inode) => {
      for (const [name, child] of folder.names) {
        if (child === inode) this.#tell(folder, name)
        if (child.kind === 'folder') look(child)
      }
    }
    look(this.#root)
  }

  #use(bytes: number): void {
    if (bytes > this.room) throw failure('ENOSPC')
    this.room -= bytes
  }

  entry(path: string): FileEntry | undefined {
    const inode = this.#find(path)
    if (!inode) return undefined
    if (inode.kind === 'folder') return { ...FOLDER, inode: inode.number }
    return inode.kind === 'link' ? linkEntry(inode.target) : entryOf(inode)
  }

  list(folder: string): readonly string[] {
    const inode = this.#find(folder)
    if (!inode) throw failure('ENOENT')
    if (inode.kind !== 'folder') throw failure('ENOTDIR')
    return [...inode.names.keys()]
  }

  open(path: string, how: 'read' | 'create' | 'update', executable = false): number {
    let inode = this.#find(path)
    this.fault(how, path)
    if (how === 'create') {
      if (inode) throw failure('EEXIST')
      const { folder, name } = this.#parent(path)
      this.#use(1)
      inode = this.#inode('file')
      inode.executable = executable
      folder.names.set(name, inode)
      this.#tell(folder, name)
    }
    if (!inode) throw failure('ENOENT')
    if (inode.kind === 'link') throw failure('ELOOP')
    if (inode.kind === 'folder' && how === 'update') throw failure('EISDIR')
    this.#files.set(++this.#lastFile, inode)
    return this.#lastFile
  }

  opened(file: number): (FileEntry & { readonly links: number }) | undefined {
    const inode = this.#files.get(file)!
    return inode.kind === 'file' ? { ...entryOf(inode), links: inode.links } : undefined
  }

  read(file: number, into: Buffer, position: number): number {
    return this.#files.get(file)!.bytes.copy(into, 0, position)
  }

  write(file: number, bytes: Uint8Array, position: number): void {
    const inode = this.#files.get(file)!
    this.fault('write', '')
    const more = Math.max(0, position + bytes.length - inode.bytes.length)
    const fits = Math.min(bytes.length, bytes.length - more + this.room)
    // A full disk takes what fits.
    inode.bytes = Buffer.concat([
      inode.bytes.subarray(0, position),
      bytes.subarray(0, fits),
      inode.bytes.subarray(position + fits),
    ])
    inode.mtime = this.#now()
    this.#tellOf(inode)
    if (fits < bytes.length) throw failure('ENOSPC')
    this.#use(more)
  }

  truncate(file: number, size: number): void {
    const inode = this.#files.get(file)!
    inode.bytes = inode.bytes.subarray(0, size)
    inode.mtime = this.#now()
    this.#tellOf(inode)
  }

  setTimes(file: number, mtime: number): void {
    const inode = this.#files.get(file)!
    inode.mtime = mtime
    this.#tellOf(inode)
  }

  setExecutable(file: number, executable: boolean): void {
    const inode = this.#files.get(file)!
    inode.executable = executable
    this.#tellOf(inode)
  }

  /** Does nothing: files in memory have no owner. */
  copyMode(): void {}

  close(file: number): void {
    this.#files.delete(file)
  }

  get openFiles(): number {
    return this.#files.size
  }

  makeFolder(path: string): void {
    this.fault('makeFolder', path)
    if (this.#find(path)) throw failure('EEXIST')
    const { folder, name } = this.#parent(path)
    this.#use(1)
    folder.names.set(name, this.#inode('folder'))
    this.#tell(folder, name)
  }

  makeLink(target: string, path: string): void {
    this.fault('makeLink', path)
    if (this.#find(path)) throw failure('EEXIST')
    const { folder, name } = this.#parent(path)
    const inode = this.#inode('link')
    inode.target = target
    folder.names.set(name, inode)
    this.#tell(folder, name)
  }

  removeFolder(path: string): void {
    this.fault('removeFolder', path)
    const inode = this.#find(path)
    if (!inode) throw failure('ENOENT')
    if (inode.kind !== 'folder') throw failure('ENOTDIR')
    if (inode.names.size > 0) throw failure('ENOTEMPTY')
    this.#remove(path)
  }

  removeFile(path: string): void {
    this.fault('removeFile', path)
    const inode = this.#find(path)
    if (!inode) throw failure('ENOENT')
    if (inode.kind === 'folder') throw failure('EISDIR')
    this.#remove(path)
    inode.links--
  }

  #remove(path: string): void {
    const { folder, name } = this.#parent(path)
    folder.names.delete(this.#listed(folder, name))
    this.#tell(folder, name)
  }

  rename(from: string, to: string): void {
    this.fault('rename', to)
    const inode = this.#find(from)
    const there = this.#find(to)
    if (!inode) throw failure('ENOENT')
    if (there === inode && !this.foldsCase) return
    if (there && there !== inode && there.kind === 'folder' && (inode.kind !== 'folder' || there.names.size > 0))
      throw failure('EISDIR')
    if (there && inode.kind === 'folder' && there.kind !== 'folder') throw failure('ENOTDIR')
    const target = this.#parent(to)
    this.#remove(from)
    // A file that is replaced keeps its name, except when it is only renamed.
    const name = there && there !== inode ? this.#listed(target.folder, target.name) : target.name
    target.folder.names.set(name, inode)
    inode.ctime = ++this.#changes
    this.#tell(target.folder, target.name)
  }

  watch(folder: string, recursive: boolean, changed: (name: string | undefined) => void): () => void {
    const inode = this.#find(folder)
    if (inode?.kind !== 'folder') throw failure('ENOENT')
    const watch = { inode, recursive, changed }
    this.#watches.add(watch)
    return () => this.#watches.delete(watch)
  }

  // For tests

  removeAll(path: string): void {
    if (this.#find(path)) this.#remove(path)
  }

  put(path: string, text: string): void {
    const there = this.#find(path)
    if (there && there.kind !== 'file') this.#remove(path)
    const file = this.open(path, this.#find(path) ? 'update' : 'create')
    this.truncate(file, 0)
    this.write(file, Buffer.from(text), 0)
    this.close(file)
  }

  bytes(path: string): Buffer {
    return this.#find(path)!.bytes
  }

  putBytes(path: string, bytes: Buffer): void {
    this.put(path, '')
    this.#find(path)!.bytes = bytes
  }

  text(path: string): string | undefined {
    const inode = this.#find(path)
    return inode?.kind === 'file' ? inode.bytes.toString() : undefined
  }

  folders(path: string): void {
    const names = path.split('/').slice(1)
    for (let n = 1; n <= names.length; n++) {
      const at = `/${names.slice(0, n).join('/')}`
      const there = this.#find(at)
      if (there && there.kind !== 'folder') this.#remove(at)
      if (this.#find(at)?.kind !== 'folder') this.makeFolder(at)
    }
  }

  /** Contents by path below a folder. */
  files(path: string): Record<string, string> {
    const found: Record<string, string> = {}
    const look = (folder: Inode, prefix: string) => {
      for (const [name, inode] of [...folder.names].sort()) {
        const at = prefix + name
        if (inode.kind === 'folder') {
          found[`${at}/`] = ''
          look(inode, `${at}/`)
        } else
          found[at] = inode.kind === 'link' ? `-> ${inode.target}` : `${inode.executable ? 'x ' : ''}${inode.bytes}`
      }
    }
    const folder = this.#find(path)
    if (folder?.kind === 'folder') look(folder, '')
    return found
  }
}

/** Returns the path of a folder below another one, with `/` at its end; undefined if it is not below it. */
function pathBelow(above: Inode, folder: Inode): string | undefined {
  for (const [name, child] of above.names) {
    if (child === folder) return `${name}/`
    const below = child.kind === 'folder' ? pathBelow(child, folder) : undefined
    if (below !== undefined) return `${name}/${below}`
  }
  return undefined
}

const entryOf = ({ bytes, mtime, ctime, number, executable }: Inode): FileEntry => ({
  kind: 'file',
  size: bytes.length,
  mtime,
  ctime,
  inode: number,
  executable,
})
