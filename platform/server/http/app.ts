import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import type { ErrorBody } from '../../api/common.ts'
import { API } from '../../api/prefix.ts'
import type { ApiRoute } from '../../api/route.ts'
import { ROUTES, type RouteName } from '../../api/routes.ts'
import { rfc3339 } from '../../records/names.ts'
import type { RefusalCode } from '../../rules/refusal-pages.ts'
import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import type { AuditNote, RouteHandler, ServeConnection, StreamEvent } from '../handlers/handler.ts'
import { makeHandlers } from '../handlers/make-handlers.ts'
import { registerBrowserLogin } from '../login/browser-login.ts'
import { type LoginLimits, loginLimits } from '../login/login-limits.ts'
import { passwordOf, type RegistryCaller, registryCaller } from '../registry/registry-logins.ts'
import { browserOf, sessionOf } from './browser.ts'
import { checkCaller, type Identified, whoIs } from './caller.ts'
import { toEventStream } from './event-stream.ts'
import { FairQueue, type QueueSlot } from './fair-queue.ts'
import { registerPages, type WebFiles } from './pages.ts'
import { PlatformError } from './platform-error.ts'
import { answerUpgrades, takeConnection } from './upgrade.ts'

/**
 * Maximum size of a request body in bytes: of a request without a login, and of a request with a login. The login is
 * checked before the body is read.
 */
const BODY = 64 * 1024
const BODY_OF_CALLER = 512 * 1024
/**
 * Maximum body size, in bytes, of a request with a signature. The signature covers the entire body, so it can be
 * checked only after the body was read.
 */
const BODY_OF_HOOK = 256 * 1024
/** Timeout for receiving a complete request, in milliseconds. */
const REQUEST = 30_000
/** Idle timeout of a connection in milliseconds. Streams send keep-alives. */
const SILENCE = 120_000
/**
 * Maximum number of concurrent and of waiting requests of one caller. Pages send several requests at once, and so do
 * the jobs of a repository.
 */
const TURNS = { atOnce: 8, waiting: 200 }

/** Options for the connections of clients to the server. */
export interface AppOptions {
  /** True if clients connect without a proxy, so `X-Forwarded-For` is ignored. */
  readonly isDirect?: boolean
}

/** Creates the server with all API routes and the pages of the UI. It does not listen yet. */
export function createApp(
  world: ServerContext,
  parts: Services,
  web?: WebFiles,
  { isDirect = false }: AppOptions = {},
): FastifyInstance {
  const proxies = isDirect ? [] : [...world.settings.trustedProxies]
  const app = Fastify({
    bodyLimit: BODY,
    requestTimeout: REQUEST,
    connectionTimeout: SILENCE,
    // A client that is not a trusted proxy can send any `X-Forwarded-For`.
    trustProxy: proxies,
    // A body has to match the schema exactly: nothing is converted, and unknown properties are not dropped.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: false } },
  })
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, world))
  // This hook runs first, because the platform is not served on the hosts of applications.
  app.addHook('onRequest', async ({ headers, method }, reply) => {
    const host = parts.waker.hostOf(headers.host)
    if (host === undefined) return
    const answer = await parts.waker.answer({ host, method, headers })
    return reply.code(answer.status).headers(answer.headers).send(answer.body)
  })
  registerPages(app, web)
  // Streams do not end by themselves, so they would delay the shutdown of the server.
  const open = new Set<AbortController>()
  app.addHook('preClose', async () => {
    for (const one of open) one.abort()
    parts.live.close()
  })
  app.addHook('onClose', async () => parts.usage.write().catch(() => {}))
  const handlers = makeHandlers(world, parts)
  const limits = loginLimits(isDirect ? 'none' : proxies.length > 0 ? 'named' : 'unnamed')
  const common = { world, parts, limits, turns: new FairQueue(TURNS), open }
  for (const [name, route] of Object.entries(ROUTES) as readonly [RouteName, ApiRoute][])
    if (!route.isRaw) register(app, name, route, handlers[name] as RouteHandler<RouteName>, common)
  // Handlers get the raw bytes of the body instead of parsed JSON.
  app.register(async raw => {
    raw.removeAllContentTypeParsers()
    raw.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
    for (const [name, route] of Object.entries(ROUTES) as readonly [RouteName, ApiRoute][])
      if (route.isRaw) register(raw, name, route, handlers[name] as RouteHandler<RouteName>, common)
  })
  registerBrowserLogin(app, world, parts, limits)
  answerUpgrades(app)
  return app
}

/** Everything that the routes of one server share. */
interface RouteContext {
  readonly world: ServerContext
  readonly parts: Pick<Services, 'users' | 'tokens' | 'hooks'>
  readonly limits: LoginLimits
  readonly turns: FairQueue
  /** Controllers of all open responses. They are aborted when the server stops, which ends the streams. */
  readonly open: Set<AbortController>
}

function register(
  app: FastifyInstance,
  name: RouteName,
  route: ApiRoute,
  handle: RouteHandler<RouteName>,
  { world, parts, limits, turns, open }: RouteContext,
): void {
  const [method = 'GET', path = ''] = name.split(' ')
  const auditCall = (request: FastifyRequest, status: number) => {
    const note = notes.get(request)
    // A request that is rate limited before its caller is known has changed nothing, and auditing it would fill the
    // log.
    if (route.audit === undefined || note?.isNothing || (status === 429 && !callers.has(request))) return
    if (audited.has(request)) return
    audited.add(request)
    const by = callers.get(request)
    // Invalid input could be anything, including a password or characters that garble the log line, so it is not
    // audited.
    const sent =
      status === 400 ? {} : { ...(request.params as object), ...(route.isUpgrade && (request.query as object)) }
    const what = { ...sent, ...note?.what }
    const who = by ? { user: by.user.id, token: by.token.id } : note?.who
    world.audit({
      time: rfc3339(world.now()),
      action: route.audit,
      ...who,
      ...(Object.keys(what).length > 0 && { what }),
      status,
    })
  }
  app.route({
    method,
    url: API + path,
    bodyLimit: route.isRaw ? BODY_OF_HOOK : route.caller === 'nobody' ? BODY : BODY_OF_CALLER,
    schema: {
      ...(route.params && { params: route.params }),
      ...(route.query && { querystring: route.query }),
      ...(route.body && { body: route.body }),
      ...(route.reply && { response: { 200: route.reply } }),
    },
    // Runs before the body is read and validated, so a request without a login learns nothing about the expected body.
    onRequest: async (request, { raw: response }) => {
      if (route.isRaw) {
        const { id = '' } = request.params as { readonly id?: string }
        return limits.delivery(request, () => parts.hooks.isKnown(id))
      }
      if (route.caller === 'nobody') return limits.attempt(name, request)
      if (route.caller === 'registry') {
        const know = () => registryCaller(request.headers, world, parts)
        const lineOf = (one: RegistryCaller) => (one.kind === 'pods' ? one.namespace.uid : turnsOf(one.by))
        const turn = await turns.take({ credential: passwordOf(request.headers), response }, know, lineOf)
        taken.set(request, turn)
        pullers.set(request, turn.who)
        return
      }
      const turn = await turns.take(
        { credential: request.headers.authorization ?? sessionOf(request.headers), response },
        () => whoIs(request.headers, world, parts),
        turnsOf,
      )
      const by = turn.who
      taken.set(request, turn)
      callers.set(request, by)
      checkCaller(by, route, { ...(request.query as object), ...(request.params as object) })
      // Code of a run has a token of the user, and must not use up the limit with requests that are refused anyway.
      limits.account(name, by.user.id)
    },
    preHandler: async request => {
      if (route.caller === 'nobody') limits.target(name, request.body)
    },
    onResponse: async (request, reply) => {
      if (route.caller === 'nobody' && reply.statusCode < 400) limits.right(name, request)
      auditCall(request, reply.statusCode)
    },
    handler: async (request, reply) => {
      // All fields were validated against the schemas of the route.
      const call = {
        params: request.params,
        query: request.query,
        body: route.isRaw ? undefined : request.body,
        raw: {
          headers: route.isRaw ? request.headers : {},
          body: route.isRaw && Buffer.isBuffer(request.body) ? request.body : new Uint8Array(),
        },
        by: callers.get(request),
        puller: pullers.get(request),
        after: lastEventId(request),
        note: (more: AuditNote) => void notes.set(request, more),
        signal: gone(reply, open),
        browser: browserOf(request.headers, world.settings.url, value => void reply.header('set-cookie', value)),
      } as Parameters<typeof handle>[0]
      // The work continues and is audited even if the client has disconnected, because its effects are not undone.
      const work = async (): Promise<unknown> => {
        let status = route.isUpgrade ? 101 : route.reply || route.events ? 200 : 204
        try {
          return await handle(call)
        } catch (error) {
          status = toAnswer(error).status
          throw error
        } finally {
          auditCall(request, status)
        }
      }
      const turn = taken.get(request)
      const answer = turn ? await turn.work(work) : await work()
      // A stream lasts as long as its client keeps it open, so it does not occupy a slot; the number of streams has its
      // own limit.
      if (route.isUpgrade || route.events) turn?.end()
      if (route.isUpgrade) {
        takeConnection(request, reply, answer as ServeConnection) // such routes answer with one
        return reply
      }
      if (route.isSecret || route.events) reply.header('cache-control', 'no-store')
      if (route.events)
        return reply
          .type('text/event-stream')
          .header('x-accel-buffering', 'no')
          .send(toEventStream(answer as AsyncIterable<StreamEvent<unknown>>)) // such routes answer with events
      return route.reply ? answer : reply.code(204).send()
    },
  })
}

/**
 * Returns the `Last-Event-ID` header, which clients send when they reconnect; undefined if the request has no such
 * header.
 */
function lastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && /^[\w.:-]{1,2500}$/.test(id) ? id : undefined
}

/**
 * Returns a signal that is aborted when the client disconnects before it has received the complete response. `open`
 * contains the controllers of all open responses.
 */
function gone({ raw }: FastifyReply, open: Set<AbortController>): AbortSignal {
  const end = new AbortController()
  open.add(end)
  raw.once('close', () => {
    open.delete(end)
    if (!raw.writableFinished) end.abort()
  })
  return end.signal
}

const callers = new WeakMap<FastifyRequest, Identified>()
const notes = new WeakMap<FastifyRequest, AuditNote>()
const pullers = new WeakMap<FastifyRequest, RegistryCaller>()
const taken = new WeakMap<FastifyRequest, QueueSlot<unknown>>()
/** Requests for which a line was already written to the audit log. */
const audited = new WeakSet<FastifyRequest>()

/**
 * Returns the key that a request is counted under: the id of the token for a run, otherwise the id of the user. Code of
 * a run thus does not use up the request limit of the user who started the run.
 */
const turnsOf = ({ user, token }: Identified): string => (token.kind === 'run' ? token.id : user.id)

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  world: Pick<ServerContext, 'audit' | 'now'>,
): void {
  const { status, body } = toAnswer(error)
  if (status >= 500) world.audit({ time: rfc3339(world.now()), action: `failed: ${request.routeOptions.url}`, status })
  reply.code(status).type('application/json').serializer(JSON.stringify).send(body)
}

function toAnswer(error: unknown): { readonly status: number; readonly body: ErrorBody } {
  if (error instanceof PlatformError) return error
  if (error instanceof ClusterError) {
    const isBusy = error.failure === 'unreachable' || error.failure === 'unavailable'
    return isBusy
      ? { status: 503, body: body('cluster', 'the cluster does not answer', 'try again in a moment') }
      : { status: 502, body: body('cluster', `the cluster refused the request: ${error.failure}`) }
  }
  const { statusCode, message } = error as { readonly statusCode?: number; readonly message: string } // fastify's
  if (statusCode !== undefined && statusCode < 500)
    return { status: statusCode, body: body('request', `the request is not valid: ${message}`) }
  // Details of internal errors are only logged.
  return { status: 500, body: body('internal', 'something went wrong in the platform') }
}

const body = (code: RefusalCode, message: string, hint?: string): ErrorBody => ({
  code: `platform/${code}`,
  message,
  ...(hint && { hint }),
})
