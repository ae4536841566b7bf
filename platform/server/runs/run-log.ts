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

/** A line of the log of a run; the first has number 1. */
export interface RunLine {
  readonly number: number
  readonly step: 'clone' | 'run'
  /** RFC 3339. */
  readonly time: string
  readonly text: string
}

/** Most bytes of the text that is kept, of a Secret that stores it, and of one line. */
const KEPT = 8 * 1024 * 1024
export const PART = 900 * 1024
const LONGEST = 256 * 1024
/** Characters of the time stamp of a line. */
const STAMP = 64
/** Lines that are kept, even if they are short. */
const MOST_LINES = 100_000
/** Lines that are compressed, and dropped, together. */
const CHUNK = { bytes: 256 * 1024, lines: 5000 }
/** Milliseconds between two checks of a container that has not started. */
const LOOK = 250
/** Milliseconds for reading the log of a container that has ended. */
const ATTEMPTS = 8

/**
 * Reads the log of a run's Pod, from its first line and any number of times: lines always get the same numbers. The log
 * of a container that has ended is read once.
 */
export class PodLog {
  readonly #cluster: Cluster
  readonly #id: string
  /** Lines of containers that have ended. */
  readonly #counts = new Map<string, number>()
  /** Consecutive failed attempts to read a container that has ended: its node may be gone. */
  #failures = 0

  constructor(cluster: Cluster, id: string) {
    this.#cluster = cluster
    this.#id = id
  }

  /**
   * Yields the lines after a number, as they arrive, until the run has ended. Returns true if that was the whole log,
   * false if the Pod is deleted.
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
          // Lines of a later one have later numbers.
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
          // The stream ends when the container does, and when a connection breaks: the next look tells.
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
    // The first piece of an overlong line is longer than what is kept of it.
    const options = { container, follow: true, timestamps: true, longestLine: LONGEST + STAMP, signal }
    let isBegun = false
    for await (const line of this.#cluster.logs(pod, options)) {
      const stamped = parseLine(line)
      // An overlong line is not always divided at the same positions, and the numbers of lines must not differ.
      if (!stamped && isBegun) continue
      isBegun ||= stamped !== undefined
      // Before the first time stamp, it is a word of the node's own.
      const { text } = stamped ?? { text: line }
      yield { time: line.slice(0, line.length - text.length).trimEnd(), text: shortened(text) }
    }
  }
}

const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** Lines that were kept, as they are written. */
export interface PackedLog {
  readonly packed: Buffer
  /** The number of the first of them; of none 1. */
  readonly first: number
  readonly lines: number
}

/** The newest lines, as far as they are kept: packed as they come, so that a log takes no more memory than its text. */
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
  /** Size of the packed lines. */
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
    // One after the other they are one gzip file (RFC 1952, section 2.2).
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

/** Writes a log into Secrets that end with their run. */
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
 * The lines that were saved, read no faster than they are taken; none where the Secrets are not what was
 * written. One part of them is in memory at a time.
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
    // Errors of zlib have such a code: this is not a gzip file.
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw error
  }
}
