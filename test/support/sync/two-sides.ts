import type { Attached } from '../../../sync/protocol/attachment.ts'
import { type IgnoreSource, NO_IGNORES } from '../../../sync/scan/ignore-source.ts'
import { type ServeOptions, type SyncServer, serveSync } from '../../../sync/serve/serve.ts'
import { createSync, type SyncEngine, type SyncEvent, type SyncOptions } from '../../../sync/session/sync.ts'
import { MemoryDisk } from './memory-disk.ts'
import { Pair } from './pair.ts'
import { VirtualClock } from './virtual-clock.ts'

export const KEY = Buffer.alloc(32, 7)
export type Side = 'local' | 'remote'

/** A laptop and an agent in one process, with disks in memory and a time of their own. */
export class TwoSides {
  readonly clock = new VirtualClock()
  readonly events: SyncEvent[] = []
  readonly laptop = this.#disk()
  container = this.#disk()
  engine!: SyncEngine
  server!: SyncServer
  attached: Attached | undefined
  pair: Pair | undefined
  latency = 1
  readonly #options: Partial<SyncOptions>
  readonly #serve: Partial<ServeOptions>

  constructor(options: Partial<SyncOptions> = {}, serve: Partial<ServeOptions> = {}) {
    this.#options = options
    this.#serve = serve
    this.laptop.folders('/home/project')
    this.laptop.folders('/home/state')
    this.container.folders('/volume/src/0')
  }

  #disk(): MemoryDisk {
    // Events come a little later, as they do.
    return new MemoryDisk(this.clock.now, call => void this.clock.after(1, call))
  }

  start(): void {
    this.startAgent()
    this.startLaptop()
  }

  startAgent(): void {
    this.server?.close()
    this.server = serveSync({
      key: KEY,
      volume: '/volume',
      folders: [{ name: '0', path: 'src/0' }],
      ready: '/run/ready',
      write: 'auto',
      disk: this.container,
      clock: this.clock,
      recursive: false,
      ...this.#serve,
    })
  }

  startLaptop(options: Partial<SyncOptions> = {}): void {
    this.engine = createSync({
      folders: [{ name: '0', local: '/home/project', ignores: this.ignores(), readIgnores: () => this.ignores() }],
      stateFolder: '/home/state',
      direction: 'both',
      compression: true,
      rescanInterval: 0,
      reset: false,
      on: event => this.events.push(event),
      disk: this.laptop,
      clock: this.clock,
      platform: 'linux',
      ...this.#options,
      ...options,
    })
  }

  /** Returns the contents of the ignore file on the laptop. */
  ignores(): IgnoreSource {
    const text = this.laptop.text('/home/project/.stignore')
    return text === undefined ? NO_IGNORES : { ...NO_IGNORES, text }
  }

  connect(): void {
    this.pair?.cut()
    this.pair = new Pair(this.clock, this.latency)
    this.server.connect(this.pair.other)
    this.attached = this.engine.attach(this.pair.one, KEY)
  }

  /** Replaces the volume by a new claim, filled with the image's files. */
  newVolume(image: Readonly<Record<string, string>>): void {
    this.pair?.cut()
    this.server.close()
    this.container = this.#disk()
    this.container.folders('/volume/src/0')
    this.fill(image)
    this.startAgent()
  }

  fill(image: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(image)) {
      const place = this.place('remote', path)
      this.container.folders(place.slice(0, place.lastIndexOf('/')))
      this.container.put(place, text)
    }
  }

  disk(side: Side): MemoryDisk {
    return side === 'local' ? this.laptop : this.container
  }

  place(side: Side, path: string): string {
    return `${side === 'local' ? '/home/project' : '/volume/src/0'}/${path}`
  }

  files(side: Side): Record<string, string> {
    return this.disk(side).files(this.place(side, '').slice(0, -1))
  }

  /** The files that lost in conflicts. */
  kept(): readonly string[] {
    return Object.values(this.laptop.files('/home/state/conflicts'))
  }

  /** Connects again when cut, until both sides are in sync and nothing moves. */
  async settle(): Promise<void> {
    const end = this.clock.now() + 600_000
    for (;;) {
      if (this.engine.status().state === 'disconnected') this.connect()
      await this.clock.run(2_000, 500)
      const { state, problems } = this.engine.status()
      // Continue while failed files are still to be retried.
      if (state === 'synced' && problems.length === 0 && this.clock.next > 500) return
      if (this.clock.now() > end) throw new Error(`not in sync: ${JSON.stringify(this.engine.status())}`)
      if (this.clock.next > 500) await this.clock.run(this.clock.next)
    }
  }

  async close(): Promise<void> {
    this.pair?.cut()
    await this.engine.close()
    this.server?.close()
  }
}
