import type { IncomingMessage } from 'node:http'
import { backOff, pause } from '../http/back-off.ts'
import { pathOf } from './address.ts'
import { describeAnswer, isWatchEvent, parseAnswer, type WatchEvent } from './answers.ts'
import { type Change, ClusterError, type ObjectQuery, type PageOptions, type Resource } from './cluster.ts'
import { readLines } from './lines.ts'
import { pagesOf } from './list.ts'
import type { Client } from './request.ts'
import { fromStatusObject } from './status.ts'

/** Seconds after which the server ends a watch; it is taken up again where it was. */
const SERVER_TIMEOUT = 300

/** The annotation of the bookmark that comes after what was there when the watch began. */
const END_OF_INITIAL = 'k8s.io/initial-events-end'

/**
 * Clients of servers that cannot send the existing objects and their changes in one answer (`WatchList`: in beta since
 * Kubernetes 1.32, where it can be switched off): such a server refuses the request, and is asked for a list first.
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists
 */
const needList = new WeakSet<Client>()

/**
 * Yields the existing objects, then follows the changes without end: a connection that ends, is cut or falls silent is
 * resumed from the last version, after a pause that grows while nothing arrives. If the server no longer has that
 * state, lists again and yields `Restarted`. Throws permanent errors (`forbidden`, say; a server that has not answered
 * for about a minute), and the signal's reason.
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
    // Asked now: other watches of the client may find out at the same time.
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
        // The initial events have no order: to resume after some of them would leave out the rest.
        if (isWhole) version = object.metadata.resourceVersion ?? version
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (!(error instanceof ClusterError)) throw error
      if (error.failure === 'invalid' && isStreamed && version === undefined) {
        needList.add(client)
        continue
      }
      // Until it has told all once it is a call as any other, with an end to its attempts; before
      // an answer the client has made them.
      if (isFirst && (!isOpen || performance.now() - begin > client.limits.retry)) throw error
      if (error.status === 410) version = undefined
      else if (error.failure !== 'unreachable' && error.failure !== 'unavailable') throw error
      failing ??= performance.now()
      if (performance.now() - failing >= client.limits.lost) throw error
    }
    signal?.throwIfAborted()
    failures++
    // One connection that has come to its end is not a reason to wait, but a server that ends each
    // of them at once is.
    if (failures > 1) await pause(backOff(failures - 1, 200, 10_000), signal)
  }
}

/** Returns the path of a watch: with the changes since a version, or without a version with all existing objects. */
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
 * The events on one connection. Ends when the server ends it; throws `unreachable` when it breaks,
 * and when its content is not what the API promises.
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
      // Also a line that was cut.
      if (!isWatchEvent(event))
        throw client.unexpected({ method: 'GET', path }, response.statusCode, describeAnswer(line))
      yield event
    }
  } catch (error) {
    throw error instanceof ClusterError ? error : client.broken(error, signal)
  }
}
