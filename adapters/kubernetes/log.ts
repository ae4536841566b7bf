import { pathOf } from './address.ts'
import type { LogOptions } from './cluster.ts'
import { readLines } from './lines.ts'
import type { Client } from './request.ts'

const LONGEST_LINE = 1 << 20

/**
 * Yields the lines of a container's log, no faster than the caller consumes them. Throws `invalid` while the container
 * has not started.
 */
export async function* readLog(
  client: Client,
  pod: { readonly name: string; readonly namespace: string },
  {
    container,
    previous,
    tailLines,
    sinceSeconds,
    sinceTime,
    timestamps,
    follow,
    longestLine = LONGEST_LINE,
    signal,
  }: LogOptions,
): AsyncGenerator<string> {
  const query = { container, previous, tailLines, sinceSeconds, sinceTime, timestamps, follow }
  const path = pathOf('v1', { name: 'pods', namespaced: true }, pod.namespace, pod.name)
  const words = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === false ? [] : [`${key}=${encodeURIComponent(value)}`],
  )
  const response = await client.stream({
    method: 'GET',
    path: `${path}/log?${words.join('&')}`,
    signal,
    isPatient: follow ?? false,
  })
  try {
    yield* readLines(response, longestLine)
  } catch (error) {
    throw client.broken(error, signal)
  }
}
