import { basename } from 'node:path'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { ErrorBody } from '../../../../platform/api/common.ts'
import { API } from '../../../../platform/api/prefix.ts'
import type { ApiRoute } from '../../../../platform/api/route.ts'
import { ROUTES, type RouteName } from '../../../../platform/api/routes.ts'
import { returnPath } from '../../../../platform/rules/accounts/provider.ts'
import type { StreamEvent } from '../../../../platform/server/handlers/handler.ts'
import { toEventStream } from '../../../../platform/server/http/event-stream.ts'
import { registerPages, toWebFile, type WebFiles } from '../../../../platform/server/http/pages.ts'
import { PlatformError } from '../../../../platform/server/http/platform-error.ts'
import type { Sample } from './sample.ts'
import { SAMPLES } from './samples.ts'
import type { SampleTeam } from './team.ts'

export { makeTeam } from './team.ts'

const FOLDER = 'test/support/platform/web-samples'

/** Returns the pages from the files that a build has returned. */
export const toWebFiles = (
  index: string,
  files: readonly { readonly path: string; readonly contents: Uint8Array }[],
): WebFiles => ({
  index: toWebFile('index.html', Buffer.from(index)),
  assets: new Map(files.map(({ path, contents }) => [basename(path), toWebFile(path, Buffer.from(contents))])),
})

/**
 * Creates a server with the pages and with all routes of the platform, which answers from sample data. Requests and
 * replies are checked against the schemas of the routes, as the platform does. It does not listen yet.
 */
export function createSamplePlatform(team: SampleTeam, web?: WebFiles): FastifyInstance {
  const app = Fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false } } })
  app.setErrorHandler((error, _, reply) => {
    const { status, body } = toAnswer(error)
    return reply.code(status).type('application/json').serializer(JSON.stringify).send(body)
  })
  registerPages(app, web)
  // Streams do not end by themselves, so they would delay the shutdown of the server.
  const open = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const one of open) one.abort()
  })
  // The table types the sample of each name, and the schemas check the requests.
  for (const [name, route] of Object.entries(ROUTES) as readonly [RouteName, ApiRoute][])
    register(app, name, route, { team, open, sample: SAMPLES[name] as Sample<RouteName> | undefined })
  // Stands in for the provider, which would ask for a password.
  app.get<{ Querystring: { readonly to?: string } }>('/login/:provider', async ({ query }, reply) => {
    team.isLoggedIn = true
    return reply.redirect(returnPath(query.to), 303)
  })
  return app
}

interface Sampled {
  readonly team: SampleTeam
  /** Streams that must end when the server does. */
  readonly open: Set<AbortController>
  readonly sample: Sample<RouteName> | undefined
}

function register(
  app: FastifyInstance,
  name: RouteName,
  { params, query, body, reply: shape, events }: ApiRoute,
  { team, open, sample }: Sampled,
): void {
  const [method = 'GET', path = ''] = name.split(' ')
  app.route({
    method,
    url: API + path,
    schema: {
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && { body }),
      ...(shape && { response: { 200: shape } }),
    },
    handler: async (request, reply) => {
      if (!sample) throw new NoSample(name)
      const after = request.headers['last-event-id']
      // The schemas of the route were checked.
      const call = {
        ...{ params: request.params, query: request.query, body: request.body, team },
        ...(typeof after === 'string' && { after }),
        signal: gone(reply, open),
      } as Parameters<typeof sample>[0]
      const answer = sample(call)
      if (method !== 'GET') team.changes.emit('change')
      reply.header('cache-control', 'no-store')
      if (events)
        return reply.type('text/event-stream').send(toEventStream(answer as AsyncIterable<StreamEvent<unknown>>)) // such routes answer with events
      return shape ? answer : reply.code(204).send()
    },
  })
}

/** Returns a signal that is aborted when the client disconnects before it has received the complete response. */
function gone({ raw }: FastifyReply, open: Set<AbortController>): AbortSignal {
  const end = new AbortController()
  open.add(end)
  raw.once('close', () => {
    open.delete(end)
    end.abort()
  })
  return end.signal
}

/** A route of the platform that has no sample. The status is final: pages repeat a request that failed with 500. */
class NoSample extends Error {
  readonly status = 404
  readonly body: ErrorBody

  constructor(name: RouteName) {
    super(`no sample for ${name}`)
    this.body = {
      code: 'platform/no-sample',
      message: `there is no sample data for \`${name}\``,
      hint: `add \`'${name}': () => …\` to the samples in \`${FOLDER}\`; the browser loads it when the file is saved`,
    }
  }
}

function toAnswer(error: unknown): { readonly status: number; readonly body: ErrorBody } {
  if (error instanceof PlatformError || error instanceof NoSample) return error
  const { statusCode = 500, message, stack } = error as Error & { readonly statusCode?: number } // fastify's, or a bug
  if (statusCode < 500)
    return { status: statusCode, body: { code: 'platform/request', message: `the request is not valid: ${message}` } }
  console.error(stack)
  return {
    status: 400,
    body: { code: 'platform/sample', message: `the sample failed: ${message}`, hint: 'the terminal shows where' },
  }
}
