import { pipeline, Readable } from 'node:stream'
import { createGunzip, gzipSync } from 'node:zlib'
import { pause } from '../../../adapters/http/back-off.ts'
import { type Cluster, ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { readLines } from '../../../adapters/kubernetes/lines.ts'
import { parseLine } from '../../../environment/logs/line.ts'
import { MANAGER, RUNS_NAMESPACE } from '../../records/names.ts'
import { logSecret, type RunLog, type RunRecord } from '../../records/run.ts'
import { CLONE, RUN, runSecret } from './run-objects.ts'
import { containerState, endOf, hasContainer, isOver, podOf } from './run-pod.ts'

/** A log line of a run; the first line has number 1. */
export interface RunLine {
  readonly number: number
  readonly step: 'clone' | 'run'
  /** RFC 3339 time at which the line was written. */
  readonly time: string
  readonly text: string
}

/** Maximum size in bytes: of the text that is kept, of a Secret that stores a part of it, and of one line. */
const KEPT = 8 * 1024 * 1024
export const PART = 900 * 1024
const LONGEST = 256 * 1024
/** Maximum length of the time stamp of a line in characters. */
const STAMP = 64
/** Maximum number of lines that are kept, even if they are short. */
const MOST_LINES = 100_000
/** Size of the chunks in which lines are compressed, and dropped, together. */
const CHUNK = { bytes: 256 * 1024, lines: 5000 }
/** Interval between two checks of a container that has not started, in milliseconds. */
const LOOK = 250
/** Maximum number of consecutive failed attempts to read the log of a container that has ended. */
const ATTEMPTS = 8

/**
 * Reads the log of a run's Pod from its first line. Reading can be repeated after an interruption, and each line has
 * the same number every time. After a container has ended, its log is read completely once, and not again.
 */
export class PodLog {
  readonly #cluster: Cluster
  readonly #id: string
  /** Number of lines of each container that has ended, by the name of the container. */
  readonly #counts = new Map<string, number>()
  /** Number of consecutive failed attempts to read a container that has ended; its node may be lost. */
  #failures = 0

  constructor(cluster: Cluster, id: string) {
    this.#cluster = cluster
    this.#id = id
  }

  /**
   * Yields the lines after a line number as they arrive, until the run has ended. Returns true if the log was read
   * completely, and false if the Pod is deleted.
   */
  async *read(after: number, signal: AbortSignal): AsyncGenerator<RunLine, boolean> {
    let last = after
    for (;;) {
      signal.throwIfAborted()
      const pod = await podOf(this.#cluster, this.#id, signal)
      if (!pod) return false
      let number = 0
      for (const step of [CLONE, RUN] as const) {
        const known = this.#counts.get(step)
        if (known !== undefined) {
          number += known
          continue
        }
        const { phase } = containerState(pod, step)
        if (phase === 'waiting') {
          // Waits for this container, because lines of the next container have higher numbers.
          if (hasContainer(pod, step) && !isOver(pod)) break
          continue
        }
        const before = number
        try {
          for await (const line of this.#lines(pod, step, signal)) {
            number++
            if (number <= last) continue
            last = number
            yield { number, step, ...line }
          }
          this.#failures = 0
          if (phase === 'ended') this.#counts.set(step, number - before)
          // The stream ends when the container ends, but also when the connection breaks, so the state is checked
          // again.
          else break
        } catch (error) {
          if (!(error instanceof ClusterError) || error.failure === 'forbidden') throw error
          if (phase === 'ended' && ++this.#failures >= ATTEMPTS) this.#counts.set(step, number - before)
          break
        }
      }
      const isRead = [CLONE, RUN].every(step => this.#counts.has(step) || containerState(pod, step).phase === 'waiting')
      if (endOf(pod) && isRead) return true
      await pause(LOOK, signal)
    }
  }

  async *#lines(
    { metadata }: KubeObject,
    container: string,
    signal: AbortSignal,
  ): AsyncGenerator<Pick<RunLine, 'time' | 'text'>> {
    const pod = { name: metadata.name, namespace: RUNS_NAMESPACE }
    // The limit is a time stamp longer than the text that is kept, so the first part of an overlong line contains all
    // of that text.
    const options = { container, follow: true, timestamps: true, longestLine: LONGEST + STAMP, signal }
    let isBegun = false
    for await (const line of this.#cluster.logs(pod, options)) {
      const stamped = parseLine(line)
      // Further parts of an overlong line are skipped: the line is not always split at the same positions, but lines
      // must always get the same numbers.
      if (!stamped && isBegun) continue
      isBegun ||= stamped !== undefined
      // A line before the first time stamp is a message of the node itself.
      const { text } = stamped ?? { text: line }
      yield { time: line.slice(0, line.length - text.length).trimEnd(), text: shortened(text) }
    }
  }
}

const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** The kept lines in compressed form. */
export interface PackedLog {
  readonly packed: Buffer
  /** Number of the first line; 1 if there are no lines. */
  readonly first: number
  readonly lines: number
}

/**
 * The newest lines of a log, up to the limits. They are compressed as they arrive, so that a log needs little memory.
 */
export class KeptLines {
  readonly #chunks: {
    readonly packed: Buffer
    readonly bytes: number
    readonly first: number
    readonly lines: number
  }[] = []
  #open: string[] = []
  #openBytes = 0
  #first = 1
  /** Uncompressed size of the compressed lines in bytes. */
  #bytes = 0
  #lines = 0

  add({ number, step, time, text }: RunLine): void {
    const line = `${step === CLONE ? 'c' : 'r'} ${time} ${text}\n`
    if (this.#open.length === 0) this.#first = number
    this.#open.push(line)
    this.#openBytes += Buffer.byteLength(line)
    if (this.#openBytes >= CHUNK.bytes || this.#open.length >= CHUNK.lines) this.#pack()
  }

  /** Returns all lines that are kept. */
  all(): PackedLog {
    if (this.#open.length > 0) this.#pack()
    const packed = this.#chunks.length > 0 ? Buffer.concat(this.#chunks.map(one => one.packed)) : gzipSync('')
    return { packed, first: this.#chunks[0]?.first ?? 1, lines: this.#lines }
  }

  #pack(): void {
    const [lines, bytes] = [this.#open.length, this.#openBytes]
    // Concatenated gzip files are one valid gzip file (RFC 1952, section 2.2).
    this.#chunks.push({ packed: gzipSync(this.#open.join('')), bytes, first: this.#first, lines })
    this.#bytes += bytes
    this.#lines += lines
    this.#open = []
    this.#openBytes = 0
    while (this.#bytes > KEPT || this.#lines > MOST_LINES) {
      const oldest = this.#chunks.shift()! // one alone is below both
      this.#bytes -= oldest.bytes
      this.#lines -= oldest.lines
    }
  }
}

/** Saves a log in Secrets that are deleted with their run. */
export async function saveLog(cluster: Cluster, run: RunRecord, { packed, first, lines }: PackedLog): Promise<RunLog> {
  const parts = Math.ceil(packed.length / PART)
  for (let part = 0; part < parts; part++) {
    const bytes = packed.subarray(part * PART, (part + 1) * PART)
    const secret = runSecret(run, logSecret(run.id, part), {})
    await cluster.apply({ ...secret, data: { log: bytes.toString('base64') } }, { manager: MANAGER, force: true })
  }
  return { parts, first, lines }
}

/**
 * Yields the saved lines, no faster than the caller reads them. Yields no lines if the Secrets have invalid content.
 * Only one part of the log is in memory at a time.
 */
export async function* readSaved(
  cluster: Cluster,
  { id }: RunRecord,
  { parts, first, lines }: RunLog,
  signal: AbortSignal,
): AsyncGenerator<RunLine> {
  async function* packed(): AsyncGenerator<Buffer> {
    for (let part = 0; part < Math.min(parts, KEPT / PART + 2); part++) {
      const ref = { apiVersion: 'v1', kind: 'Secret', name: logSecret(id, part), namespace: RUNS_NAMESPACE }
      const live = await cluster.get(ref, { signal })
      const data = (live?.['data'] as { readonly log?: unknown } | undefined)?.log // a Secret's
      yield Buffer.from(typeof data === 'string' ? data : '', 'base64')
    }
  }
  const text = createGunzip()
  pipeline(Readable.from(packed()), text, () => {})
  const last = first + Math.min(lines, MOST_LINES) - 1
  let number = first
  try {
    for await (const line of readLines(text, 2 * LONGEST)) {
      if (number > last) return
      const [, step, time = '', rest = ''] = /^([cr]) (\S*) (.*)$/s.exec(line) ?? []
      yield { number: number++, step: step === 'c' ? CLONE : RUN, time, text: rest }
    }
  } catch (error) {
    // The content is not a gzip file: zlib errors have such a code.
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error
  }
}
