import { once } from 'node:events'
import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { openExec } from '../../adapters/kubernetes/exec.ts'
import type { Session } from '../../project/session.ts'

/** Duration of the latency test and of the throughput test, in milliseconds. */
const LATENCY = 2000
const THROUGHPUT = 3000
const CHUNK = Buffer.alloc(64 << 10, 0x20)

/** Latency and throughput of the connection to a container. */
export interface LineTest {
  /** Round-trip times of one byte, in milliseconds. `count` is the number of measurements. */
  readonly roundTrip: { readonly count: number; readonly median: number; readonly worst: number }
  /** Echoed bytes per second. */
  readonly bytesPerSecond: number
}

/** Sends bytes to `cat` in the agent's container for five seconds, and measures when they return. */
export async function tryLine(
  { access, namespace }: Session,
  pod: KubeObject,
  container: string,
  signal: AbortSignal,
): Promise<LineTest> {
  const target = { pod: pod.metadata.name, namespace, container, command: ['cat'], stdin: true }
  const cat = await openExec(access, target, { signal })
  cat.exit.catch(() => {})
  cat.stderr.resume()
  try {
    const roundTrip = await roundTrips(cat.stdin, cat.stdout, signal)
    return { roundTrip, bytesPerSecond: await bytesPerSecond(cat.stdin, cat.stdout, signal) }
  } finally {
    cat.stdin.end()
    cat.destroy()
  }
}

async function roundTrips(
  stdin: NodeJS.WritableStream,
  stdout: NodeJS.ReadableStream,
  signal: AbortSignal,
): Promise<LineTest['roundTrip']> {
  const times: number[] = []
  const end = performance.now() + LATENCY
  while (performance.now() < end) {
    const start = performance.now()
    const back = once(stdout, 'data', { signal })
    stdin.write('x')
    await back
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const rounded = (value: number) => Math.round(value * 100) / 100
  return { count: times.length, median: rounded(times[times.length >> 1]!), worst: rounded(times.at(-1)!) }
}

async function bytesPerSecond(
  stdin: NodeJS.WritableStream,
  stdout: NodeJS.ReadableStream,
  signal: AbortSignal,
): Promise<number> {
  let received = 0
  const count = (chunk: Buffer) => {
    received += chunk.length
  }
  stdout.on('data', count)
  const start = performance.now()
  try {
    while (performance.now() - start < THROUGHPUT) if (!stdin.write(CHUNK)) await once(stdin, 'drain', { signal })
  } finally {
    stdout.off('data', count)
  }
  return Math.round((received / (performance.now() - start)) * 1000)
}
