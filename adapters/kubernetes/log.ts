import { pathOf } from './address.ts'
import type { LogOptions } from './cluster.ts'
import { readLines } from './lines.ts'
import type { Client } from './request.ts'

const LONGEST_LINE = 1 << 20

interface LoggedPod {
  readonly name: string
  readonly namespace: string
}

/**
 * Yields the lines of a container's log, no faster than the caller consumes them. Throws a ClusterError with the
 * failure `invalid` while the container has not started.
 */
export async function* readLog(
  client: Client,
  pod: LoggedPod,
  { longestLine = LONGEST_LINE, ...options }: LogOptions,
): AsyncGenerator<string> {
  const response = await openLog(client, pod, options)
  try {
    yield* readLines(response, longestLine)
  } catch (error) {
    throw client.broken(error, options.signal)
  }
}

/**
 * Yields the bytes of a container's log as the program printed them, except that containerd removes a carriage return
 * before a line end. Reads no faster than the caller consumes the bytes. Throws a ClusterError with the failure
 * `invalid` while the container has not started.
 */
export async function* readLogBytes(
  client: Client,
  pod: LoggedPod,
  options: Omit<LogOptions, 'longestLine'>,
): AsyncGenerator<Uint8Array> {
  const response = await openLog(client, pod, options)
  try {
    yield* response as AsyncIterable<Buffer>
  } catch (error) {
    throw client.broken(error, options.signal)
  }
}

function openLog(client: Client, pod: LoggedPod, { signal, ...query }: Omit<LogOptions, 'longestLine'>) {
  const path = pathOf('v1', { name: 'pods', namespaced: true }, pod.namespace, pod.name)
  const { container, previous, tailLines, sinceSeconds, sinceTime, timestamps, follow } = query
  const words = Object.entries({ container, previous, tailLines, sinceSeconds, sinceTime, timestamps, follow }).flatMap(
    ([key, value]) => (value === undefined || value === false ? [] : [`${key}=${encodeURIComponent(value)}`]),
  )
  return client.stream({ method: 'GET', path: `${path}/log?${words.join('&')}`, signal, isPatient: follow ?? false })
}
