import { gunzipSync, gzipSync } from 'node:zlib'
import { pause } from '../../adapters/http/back-off.ts'
import { type Cluster, ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGER, RUNS_NAMESPACE } from '../records/names.ts'
import { logSecret, type RunLog, type RunRecord, runName } from '../records/run.ts'
import { CLONE, RUN, runSecret } from './run-objects.ts'

/** A line of the log of a run; the first has number 1. */
export interface RunLine {
  readonly number: number
  readonly step: 'clone' | 'run'
  /** RFC 3339. */
  readonly time: string
  readonly text: string
}

/** Bytes: of text that is kept, of a Secret that it is kept in, and of one line. */
const KEPT = 8 * 1024 * 1024
const PART = 900 * 1024
const LONGEST = 256 * 1024
/** Milliseconds between two looks at a container that has not started. */
const LOOK = 250
/** Of reading what a container that has ended has left. */
const ATTEMPTS = 8

/** The Pod of a run; undefined before it starts, and after its end was seen to. */
export async function podOf(cluster: Cluster, id: string, signal: AbortSignal): Promise<KubeObject | undefined> {
  const labels = `batch.kubernetes.io/job-name=${runName(id)}`
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE, labels }, { signal })
  return pods[0]
}

/** What a container of a Pod is at, and what it left behind. */
export function containerState(
  pod: KubeObject,
  name: string,
): { readonly phase: 'waiting' | 'running' | 'ended'; readonly message?: string } {
  type State = Readonly<Record<string, { readonly message?: unknown } | undefined>>
  const { initContainerStatuses = [], containerStatuses = [] } = (pod['status'] ?? {}) as {
    readonly initContainerStatuses?: readonly { readonly name: string; readonly state?: State }[]
    readonly containerStatuses?: readonly { readonly name: string; readonly state?: State }[]
  } // the API server's
  const state = [...initContainerStatuses, ...containerStatuses].find(one => one.name === name)?.state
  if (state?.['terminated']) {
    const { message } = state['terminated']
    return { phase: 'ended', ...(typeof message === 'string' && { message }) }
  }
  return { phase: state?.['running'] ? 'running' : 'waiting' }
}

/** True for a Pod of which nothing more is to be heard. */
export const isOver = (pod: KubeObject): boolean =>
  ['Succeeded', 'Failed'].includes(String((pod['status'] as { readonly phase?: string } | undefined)?.phase))

/**
 * Reads the log of a Pod of a run, from its first line and any number of times: lines always have the same
 * numbers. A container that has ended is read once.
 */
export class PodLog {
  readonly #cluster: Cluster
  readonly #id: string
  /** Lines of containers that have ended. */
  readonly #counts = new Map<string, number>()
  /** Attempts in a row that failed, of a container that has ended: its node may be gone. */
  #failures = 0

  constructor(cluster: Cluster, id: string) {
    this.#cluster = cluster
    this.#id = id
  }

  /**
   * The lines after a number, as they come, until the Pod has ended. Returns true when that was all; false
   * when there is no Pod any more.
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
        if (phase === 'waiting') continue
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
      if (isOver(pod) && isRead) return true
      await pause(LOOK, signal)
    }
  }

  async *#lines(
    { metadata }: KubeObject,
    container: string,
    signal: AbortSignal,
  ): AsyncGenerator<Pick<RunLine, 'time' | 'text'>> {
    const pod = { name: metadata.name, namespace: RUNS_NAMESPACE }
    const found = this.#cluster.logs(pod, { container, follow: true, timestamps: true, signal })
    for await (const line of found) {
      const at = line.indexOf(' ')
      yield { time: line.slice(0, Math.max(at, 0)), text: shortened(line.slice(at + 1)) }
    }
  }
}

const shortened = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)

/** The newest lines, as far as they are kept. */
export class KeptLines {
  readonly #lines: RunLine[] = []
  #bytes = 0
  #gone = 0

  add(line: RunLine): void {
    this.#lines.push(line)
    this.#bytes += sizeOf(line)
    while (this.#bytes > KEPT) {
      this.#bytes -= sizeOf(this.#lines[this.#gone]!) // what is over the limit has lines
      this.#gone++
    }
    // The list is cut now and then, not at each line.
    if (this.#gone < 10_000) return
    this.#lines.splice(0, this.#gone)
    this.#gone = 0
  }

  get all(): readonly RunLine[] {
    return this.#lines.slice(this.#gone)
  }
}

const sizeOf = ({ text, time }: RunLine): number => Buffer.byteLength(text) + time.length + 4

/** Writes lines into Secrets that end with their run. */
export async function saveLog(cluster: Cluster, run: RunRecord, lines: readonly RunLine[]): Promise<RunLog> {
  const text = lines.map(({ step, time, text }) => `${step === CLONE ? 'c' : 'r'} ${time} ${text}\n`).join('')
  const packed = gzipSync(text)
  const parts = Math.ceil(packed.length / PART)
  for (let part = 0; part < parts; part++) {
    const bytes = packed.subarray(part * PART, (part + 1) * PART)
    const secret = runSecret(run, logSecret(run.id, part), {})
    await cluster.apply({ ...secret, data: { log: bytes.toString('base64') } }, { manager: MANAGER, force: true })
  }
  return { parts, first: lines[0]?.number ?? 1, lines: lines.length }
}

/** The lines that were saved; none where the Secrets are not what was written. */
export async function readSaved(
  cluster: Cluster,
  { id }: RunRecord,
  { parts, first }: RunLog,
  signal: AbortSignal,
): Promise<readonly RunLine[]> {
  const found: Buffer[] = []
  for (let part = 0; part < Math.min(parts, KEPT / PART + 2); part++) {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: logSecret(id, part), namespace: RUNS_NAMESPACE }
    const live = await cluster.get(ref, { signal })
    const data = (live?.['data'] as { readonly log?: unknown } | undefined)?.log // a Secret's
    found.push(Buffer.from(typeof data === 'string' ? data : '', 'base64'))
  }
  const text = unpacked(Buffer.concat(found))
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, index) => {
      const [, step, time = '', rest = ''] = /^([cr]) (\S*) (.*)$/s.exec(line) ?? []
      return { number: first + index, step: step === 'c' ? CLONE : RUN, time, text: rest }
    })
}

function unpacked(bytes: Buffer): string {
  try {
    return gunzipSync(bytes, { maxOutputLength: 2 * KEPT }).toString()
  } catch {
    return ''
  }
}
