import { pathOf } from './address.ts'
import { backOff, pause } from './back-off.ts'
import { type Change, ClusterError, type KubeObject, type ObjectQuery, type Resource } from './cluster.ts'
import { readLines } from './lines.ts'
import { listAll } from './list.ts'
import type { Client } from './request.ts'
import { fromStatusObject } from './status.ts'

/** Seconds after which the server ends a watch; it is taken up again where it was. */
const SERVER_TIMEOUT = 300

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubeObject
}

/**
 * Lists, then follows the changes, for ever: a connection that ends, is cut or falls silent is taken up where it was, after a pause that
 * grows while nothing comes. When the server no longer has that state, lists anew and says `Restarted`. Throws what will not pass
 * (`forbidden`, say; a server that has not answered for about a minute), and the signal's reason.
 */
export async function* watchObjects(
  client: Client,
  query: ObjectQuery,
  resource: Resource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change> {
  let version: string | undefined
  let isFirst = true
  let failing: number | undefined
  const onAnswer = () => {
    failing = undefined
  }
  for (let failures = 0; ; ) {
    try {
      if (version === undefined) {
        const listed = await listAll(client, query, resource, signal)
        isFirst = false
        onAnswer()
        yield { type: 'Restarted' }
        for (const object of listed.objects) yield { type: 'Changed', object }
        yield { type: 'Listed' }
        version = listed.version
      }
      for await (const { type, object } of follow(client, query, resource, version, signal, onAnswer)) {
        if (type === 'ERROR') throw fromStatusObject(object)
        failures = 0
        version = object.metadata.resourceVersion ?? version
        if (type !== 'BOOKMARK') yield { type: type === 'DELETED' ? 'Deleted' : 'Changed', object }
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (isFirst || !(error instanceof ClusterError)) throw error
      if (error.status === 410) version = undefined
      else if (error.failure !== 'unreachable' && error.failure !== 'unavailable') throw error
      failing ??= performance.now()
      if (performance.now() - failing >= client.limits.lost) throw error
    }
    signal?.throwIfAborted()
    failures++
    // One connection that has come to its end is no reason to wait, but a server that ends each of them at once is.
    if (failures > 1) await pause(backOff(failures - 1, 200, 10_000), signal)
  }
}

/** One connection. Ends when the server ends it; throws `unreachable` when it breaks. */
async function* follow(
  client: Client,
  { apiVersion, namespace, labels, fields }: ObjectQuery,
  resource: Resource,
  version: string,
  signal: AbortSignal | undefined,
  onAnswer: () => void,
): AsyncGenerator<WatchEvent> {
  const path = pathOf(apiVersion, resource, namespace, undefined, {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: version,
    labelSelector: labels || undefined,
    fieldSelector: fields || undefined,
    timeoutSeconds: SERVER_TIMEOUT,
  })
  const response = await client.stream({ method: 'GET', path, signal })
  onAnswer()
  response.setTimeout(client.limits.silence, () =>
    response.destroy(Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })),
  )
  try {
    for await (const line of readLines(response, Number.POSITIVE_INFINITY)) if (line !== '') yield JSON.parse(line)
  } catch (error) {
    // A line that was cut is no JSON.
    throw client.broken(error, signal)
  }
}
