import { formatTime, type LogLine } from '../../environment/logs/line.ts'
import type { LogSource } from '../../environment/logs/source.ts'
import type { Output } from './io.ts'
import { cleanText } from './log-text.ts'
import { writeAsIs } from './redacting.ts'

/** Number of buffered characters above which `print` returns a promise to wait for. */
const ENOUGH = 1 << 16
/** Foreground colors, starting with those that are easy to tell apart. Red is reserved for errors. */
const COLOURS = [36, 33, 32, 35, 34, 96, 93, 92, 95, 94]

export interface LogPrinterOptions {
  readonly colour: boolean
  readonly timestamps: boolean
  /** Signal that ends all waiting. */
  readonly signal: AbortSignal
  /** Called with the error if the output fails, because its reader has closed it or the disk is full. */
  readonly closed: (reason: unknown) => void
}

/**
 * Prints lines of many containers, each prefixed with the name of its container. Makes producers wait while the output
 * does not keep up.
 */
export class LogPrinter {
  readonly #output: Output
  readonly #options: LogPrinterOptions
  readonly #colours = new Map<string, number>()
  #width = 0
  #gathered = ''
  #isFlushing = false
  readonly #waiting: (() => void)[] = []

  constructor(output: Output, options: LogPrinterOptions) {
    this.#output = output
    this.#options = options
    options.signal.addEventListener('abort', () => this.#letGo(), { once: true })
  }

  /** Reserves space for the names of the given sources, and assigns colors to the services of the sources. */
  expect(sources: readonly LogSource[]): void {
    for (const { name } of sources) this.#width = Math.max(this.#width, name.length)
    for (const service of [...new Set(sources.map(({ service }) => service))].sort())
      if (!this.#colours.has(service)) this.#colours.set(service, COLOURS[this.#colours.size % COLOURS.length]!)
  }

  /**
   * Adds a line to the buffer. If the buffer is full, returns a promise that resolves once the buffer has been written;
   * undefined otherwise.
   */
  print({ service, name }: LogSource, { time, text }: LogLine): Promise<void> | undefined {
    const { colour, timestamps } = this.#options
    const mark = `${name.padEnd(this.#width)} |`
    const prefix = colour ? `\u001b[${this.#colours.get(service) ?? 0}m${mark}\u001b[0m` : mark
    this.#gathered += `${prefix} ${timestamps ? `${formatTime(time)} ` : ''}${cleanText(text, colour)}\n`
    if (!this.#isFlushing) void this.#flush()
    return this.#gathered.length < ENOUGH ? undefined : this.#turn()
  }

  /** Resolves when all lines are written. */
  async end(): Promise<void> {
    while (this.#isFlushing && !this.#options.signal.aborted) await this.#turn()
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true
    try {
      // Batch lines that arrive at the same time.
      await new Promise(resolve => setImmediate(resolve))
      while (this.#gathered !== '') {
        const text = this.#gathered
        this.#gathered = ''
        writeAsIs(this.#output, text)
        await this.#output.flushed?.()
        this.#letGo()
      }
    } catch (error) {
      this.#gathered = ''
      this.#options.closed(error)
    } finally {
      this.#isFlushing = false
      this.#letGo()
    }
  }

  #turn(): Promise<void> {
    return this.#options.signal.aborted ? Promise.resolve() : new Promise(resolve => this.#waiting.push(resolve))
  }

  #letGo(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
