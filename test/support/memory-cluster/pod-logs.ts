import { unlessAborted } from '../../../adapters/http/abort.ts'
import { ClusterError, type LogOptions } from '../../../adapters/kubernetes/cluster.ts'

interface Line {
  readonly text: string
  /** Milliseconds of the clock. */
  readonly time: number
}

interface Log {
  previous: readonly Line[] | undefined
  lines: Line[]
  isEnded: boolean
}

/** Output of the containers of a MemoryCluster. */
export class PodLogs {
  readonly #logs = new Map<string, Log>()
  readonly #now: () => number
  #waiting: (() => void)[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  print(container: string, ...lines: readonly string[]): void {
    const log = this.#logs.get(container) ?? { previous: undefined, lines: [], isEnded: false }
    this.#logs.set(container, log)
    log.lines.push(...lines.map(text => ({ text, time: this.#now() })))
    this.#tell()
  }

  /** Ends the container; with `restart`, another one with its own log replaces it. */
  end(container: string, { restart = false } = {}): void {
    const log = this.#logs.get(container)
    if (!log) return
    log.isEnded = true
    if (restart) this.#logs.set(container, { previous: log.lines, lines: [], isEnded: false })
    this.#tell()
  }

  async *read(container: string, options: LogOptions): AsyncGenerator<string> {
    const { previous, tailLines, sinceSeconds, timestamps, follow, signal } = options
    signal?.throwIfAborted()
    const log = this.#logs.get(container)
    if (!log || (previous && !log.previous))
      throw new ClusterError(
        'invalid',
        log
          ? `previous terminated container "${options.container}" not found`
          : `container "${options.container}" is waiting to start: ContainerCreating`,
        { status: 400, reason: 'BadRequest' },
      )
    const show = ({ text, time }: Line) => (timestamps ? `${new Date(time).toISOString()} ${text}` : text)
    const lines = previous ? log.previous! : log.lines
    const since = sinceSeconds === undefined ? 0 : this.#now() - sinceSeconds * 1000
    const recent = lines.filter(({ time }) => time >= since)
    yield* recent.slice(tailLines === undefined ? 0 : Math.max(0, recent.length - tailLines)).map(show)
    if (!follow || previous) return
    for (let next = lines.length; ; next++) {
      while (next >= lines.length && !log.isEnded)
        await unlessAborted(new Promise<void>(resolve => this.#waiting.push(resolve)), signal)
      signal?.throwIfAborted()
      if (next >= lines.length) return
      yield show(lines[next]!)
    }
  }

  #tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
