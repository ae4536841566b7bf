import type { IncomingMessage } from 'node:http'
import { backOff, pause } from '../http/back-off.ts'
import { pathOf } from './address.ts'
import { describeAnswer, isWatchEvent, parseAnswer, type WatchEvent } from './answers.ts'
import { type Change, ClusterError, type ObjectQuery, type PageOptions, type Resource } from './cluster.ts'
import { readLines } from './lines.ts'
import { pagesOf } from './list.ts'
import type { Client } from './request.ts'
import { fromStatusObject } from './status.ts'

/** Seconds after which the server ends a watch. The watch is then resumed from the last `resourceVersion`. */
const SERVER_TIMEOUT = 300

/** Annotation of the bookmark that follows the objects that existed when the watch started. */
const END_OF_INITIAL = 'k8s.io/initial-events-end'

/**
 * Clients of servers that cannot send the existing objects and their changes in one response (`WatchList`: in beta
 * since Kubernetes 1.32, where it can be disabled). Such a server refuses the request, and the client lists the objects
 * first. https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
 */
const needList = new WeakSet<Client>()

/**
 * Yields the existing objects, then follows the changes without end. A connection that ends, is lost or times out is
 * resumed from the last version, after a pause that grows while nothing arrives. If the server no longer has that
 * version, lists again and yields `Restarted`. Throws permanent errors (such as `forbidden`, or a server that has not
 * responded for about a minute), or the signal's abort reason.
 */
export async function* watchObjects(
  client: Client,
  query: ObjectQuery,
  resource: Resource,
  options: PageOptions,
): AsyncGenerator<Change> {
  const { signal } = options
  const begin = performance.now()
  let version: string | undefined
  let isFirst = true
  let failing: number | undefined
  const onAnswer = () => {
    failing = undefined
  }
  for (let failures = 0; ; ) {
    let isOpen = false
    // Read for each attempt, because another watch of the client may set it at the same time.
    const isStreamed = version === undefined && !needList.has(client)
    try {
      if (version === undefined && !isStreamed) {
        let listed: string | undefined
        for await (const page of pagesOf(client, query, resource, options)) {
          onAnswer()
          if (!isOpen) yield { type: 'Restarted' }
          isOpen = true
          for (const object of page.objects) yield { type: 'Changed', object }
          listed = page.version
        }
        isFirst = false
        yield { type: 'Listed' }
        version = listed
      }
      const path = watchPath(query, resource, version)
      const response = await client.stream({ method: 'GET', path, signal, goesOn: version !== undefined })
      isOpen = true
      onAnswer()
      let isWhole = version !== undefined
      if (!isWhole) yield { type: 'Restarted' }
      response.setTimeout(isWhole ? client.limits.silence : client.limits.read)
      for await (const { type, object } of eventsOf(response, path, client, signal)) {
        if (type === 'ERROR') throw fromStatusObject(object)
        failures = 0
        if (type !== 'BOOKMARK') yield { type: type === 'DELETED' ? 'Deleted' : 'Changed', object }
        else if (!isWhole && object.metadata.annotations?.[END_OF_INITIAL] !== undefined) {
          isWhole = true
          isFirst = false
          response.setTimeout(client.limits.silence)
          yield { type: 'Listed' }
        }
        // The initial events are unordered, so resuming after some of them would skip the rest.
        if (isWhole) version = object.metadata.resourceVersion ?? version
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof ClusterError)) throw error
      if (error.failure === 'invalid' && isStreamed && version === undefined) {
        needList.add(client)
        continue
      }
      // Until all objects have been sent once, the watch counts as an ordinary call with limited retries; before a
      // response, the client has already made them.
      if (isFirst && (!isOpen || performance.now() - begin > client.limits.retry)) throw error
      if (error.status === 410) version = undefined
      else if (error.failure !== 'unreachable' && error.failure !== 'unavailable') throw error
      failing ??= performance.now()
      if (performance.now() - failing >= client.limits.lost) throw error
    }
    signal?.throwIfAborted()
    failures++
    // The normal end of one connection needs no pause, but a server that ends each connection immediately does.
    if (failures > 1) await pause(backOff(failures - 1, 200, 10_000), signal)
  }
}

/**
 * Returns the path of a watch for the changes since a version. Without a version, the watch begins with all existing
 * objects.
 */
function watchPath(
  { apiVersion, namespace, labels, fields }: ObjectQuery,
  resource: Resource,
  version: string | undefined,
): string {
  return pathOf(apiVersion, resource, namespace, undefined, {
    watch: true,
    allowWatchBookmarks: true,
    ...(version === undefined
      ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
      : { resourceVersion: version }),
    labelSelector: labels || undefined,
    fieldSelector: fields || undefined,
    timeoutSeconds: SERVER_TIMEOUT,
  })
}

/**
 * Yields the events on one connection. Ends when the server ends the connection. Throws a ClusterError with the failure
 * `unreachable` if the connection is lost, or if its content is not a watch event.
 */
async function* eventsOf(
  response: IncomingMessage,
  path: string,
  client: Client,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent> {
  response.on('timeout', () => response.destroy(Object.assign(new Error('silent'), { code: 'ETIMEDOUT' })))
  try {
    for await (const line of readLines(response, Number.POSITIVE_INFINITY)) {
      if (line === '') continue
      const event = parseAnswer(line)
      // The line may also be truncated.
      if (!isWatchEvent(event))
        throw client.unexpected({ method: 'GET', path }, response.statusCode, describeAnswer(line))
      yield event
    }
  } catch (error) {
    throw error instanceof ClusterError ? error : client.broken(error, signal)
  }
}
