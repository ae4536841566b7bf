import type { Disk } from '../../../sync/stage/disk.ts'
import type { MemoryDisk } from '../../support/sync/memory-disk.ts'

const CHANGES = [
  'write',
  'truncate',
  'setTimes',
  'setExecutable',
  'copyMode',
  'makeFolder',
  'makeLink',
  'removeFolder',
  'removeFile',
  'rename',
] as const

/**
 * Disk as seen by a process that is killed after a number of changes: from then on it changes nothing and receives
 * nothing.
 */
export class KilledDisk implements Disk {
  readonly #disk: MemoryDisk
  readonly #open = new Set<number>()
  /** Changes that it still makes. */
  left = Infinity
  isKilled = false
  onKilled: () => void = () => {}

  declare write: Disk['write']
  declare truncate: Disk['truncate']
  declare setTimes: Disk['setTimes']
  declare setExecutable: Disk['setExecutable']
  declare copyMode: Disk['copyMode']
  declare makeFolder: Disk['makeFolder']
  declare makeLink: Disk['makeLink']
  declare removeFolder: Disk['removeFolder']
  declare removeFile: Disk['removeFile']
  declare rename: Disk['rename']

  constructor(disk: MemoryDisk) {
    this.#disk = disk
    for (const name of CHANGES) {
      const change = (...parameters: readonly unknown[]) => {
        this.#change(name === 'write' ? () => this.#writeHalf(parameters) : undefined)
        return (disk[name] as (...all: readonly unknown[]) => unknown)(...parameters)
      }
      Object.assign(this, { [name]: change })
    }
  }

  kill(): void {
    if (this.isKilled) return
    this.isKilled = true
    for (const file of this.#open) this.#disk.close(file)
    this.#open.clear()
    this.onKilled()
  }

  #alive(): void {
    if (this.isKilled) throw Object.assign(new Error('killed'), { code: 'EIO' })
  }

  #change(last: (() => void) | undefined): void {
    this.#alive()
    if (this.left-- > 0) return
    last?.()
    this.kill()
    this.#alive()
  }

  #writeHalf([file, bytes, position]: readonly unknown[]): void {
    const half = (bytes as Uint8Array).subarray(0, (bytes as Uint8Array).length / 2)
    this.#disk.write(file as number, half, position as number)
  }

  entry(path: string) {
    this.#alive()
    return this.#disk.entry(path)
  }

  list(folder: string) {
    this.#alive()
    return this.#disk.list(folder)
  }

  open(path: string, how: 'read' | 'create' | 'update', executable?: boolean): number {
    if (how === 'create') this.#change(undefined)
    this.#alive()
    const file = this.#disk.open(path, how, executable)
    this.#open.add(file)
    return file
  }

  opened(file: number) {
    this.#alive()
    return this.#disk.opened(file)
  }

  read(file: number, into: Buffer, position: number): number {
    this.#alive()
    return this.#disk.read(file, into, position)
  }

  close(file: number): void {
    if (this.#open.delete(file)) this.#disk.close(file)
  }

  watch(folder: string, recursive: boolean, changed: (name: string | undefined) => void): () => void {
    this.#alive()
    return this.#disk.watch(folder, recursive, name => {
      if (!this.isKilled) changed(name)
    })
  }
}
