import { rfc3339 } from '../../../records/names.ts'
import type { ManagedNamespace } from '../../../records/namespace.ts'
import { ownerOfHost } from '../../../rules/hosts.ts'
import type { ServerContext } from '../../context.ts'
import type { NamespaceIndex } from '../../namespaces/namespace-index.ts'
import { type Sleep, WAKE_PAUSE } from '../sleep.ts'
import { nothingPage, PROGRESS_TYPE, WAKER_HEADER, WAKING, type WakerPage } from './page.ts'
import { NOTHING, WakingProgress } from './progress.ts'

/** Time in milliseconds for an ingress controller to apply a route that was opened. */
const FOLLOWS = 10_000

/** A request for an application's host. Nothing else of the request is used, in particular no cookies and no body. */
export interface AppRequest {
  readonly host: string
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface AppAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Handles requests for application hosts that no route serves. If the namespace is asleep, wakes it and shows the
 * progress.
 */
export class Waker {
  readonly #world: ServerContext
  readonly #index: NamespaceIndex
  readonly #sleep: Sleep
  readonly #progress: WakingProgress
  readonly #nothing: WakerPage
  /** Time in milliseconds since 1970 at which this replica last tried to wake each namespace. */
  readonly #tried = new Map<string, number>()

  constructor(world: ServerContext, index: NamespaceIndex, sleep: Sleep) {
    this.#world = world
    this.#index = index
    this.#sleep = sleep
    this.#progress = new WakingProgress(world.cluster, world.now)
    this.#nothing = nothingPage(world.settings.url)
  }

  /**
   * Returns the application host that a request is for, in the form that routes use; undefined if the request is for
   * the platform.
   */
  hostOf(header: string | undefined): string | undefined {
    const { domain, url } = this.#world.settings
    const host = (header ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '')
    return host.endsWith(`.${domain}`) && host !== new URL(url).hostname ? host : undefined
  }

  async answer({ host, method, headers }: AppRequest): Promise<AppAnswer> {
    const { now, settings } = this.#world
    if (!this.#index.isListed) return unavailable(method, 2)
    const label = host.slice(0, -settings.domain.length - 1)
    const name = /^[a-z0-9-]+$/.test(label) ? ownerOfHost(host, settings.domain, this.#index.names()) : undefined
    const found = name === undefined ? undefined : this.#index.find(name)
    const mode = headers['sec-fetch-mode']
    const isNavigation = mode === 'navigate' && (method === 'GET' || method === 'HEAD')
    const nothing = () => (isNavigation ? page(404, method, this.#nothing) : noText(method))
    // Requests for other hosts neither reveal whether a namespace exists nor wake it.
    if (!found || !this.#index.hasSleepingHost(found.name, host)) return nothing()
    const { status } = found
    const isLook = headers['accept'] === PROGRESS_TYPE
    if (status === 'Active' && now() - this.#index.awakeSince(found.name) > FOLLOWS) return nothing()
    if (status === 'Deleting' || status === 'DeleteFailed') return nothing()
    // An open page polls repeatedly, which must not keep the namespace awake. Requests of programs lack the header
    // `Sec-Fetch-Mode`, and do wake it.
    const isUse = isNavigation ? !isAhead(headers) : mode === undefined && !isLook
    if (status === 'Sleeping' && isUse) this.#wake(found)
    if (isLook) return json({ status, ...(status === 'Waking' ? await this.#progress.of(found.name) : NOTHING) })
    return isNavigation ? page(503, method, WAKING, { 'retry-after': '5' }) : unavailable(method, 5)
  }

  /** Wakes a namespace, at most once a minute. Does not wait for the wake. */
  #wake(found: ManagedNamespace): void {
    const { now, log } = this.#world
    const { name, woken } = found
    const last = Math.max(Date.parse(woken ?? '') || 0, this.#tried.get(name) ?? 0)
    if (now() - last < WAKE_PAUSE) return
    for (const [one, at] of this.#tried) if (now() - at >= WAKE_PAUSE) this.#tried.delete(one)
    this.#tried.set(name, now())
    this.#sleep.wake(found).then(
      () => log({ time: rfc3339(now()), text: `${name} wakes: a request came for it` }),
      error => log({ time: rfc3339(now()), text: `waking ${name}: ${error}` }),
    )
  }
}

/** Returns true for prefetch requests, which browsers send before a user opens the page. */
const isAhead = (headers: AppRequest['headers']): boolean =>
  /prefetch|prerender|preview/.test(`${headers['sec-purpose'] ?? ''} ${headers['purpose'] ?? ''}`)

const COMMON = {
  [WAKER_HEADER]: '1',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
const NO_PAGE = { ...COMMON, 'content-security-policy': "default-src 'none'; frame-ancestors 'none'" }
const TEXT = { ...NO_PAGE, 'content-type': 'text/plain; charset=utf-8' }

/**
 * Returns headers for closing the connection after a request with a body. The body is not read, and closing the
 * connection discards it.
 */
const ended = (method: string): Readonly<Record<string, string>> =>
  method === 'GET' || method === 'HEAD' ? {} : { connection: 'close' }

const noText = (method: string): AppAnswer => ({
  status: 404,
  headers: { ...TEXT, ...ended(method) },
  body: 'There is nothing at this address.\n',
})

const unavailable = (method: string, seconds: number): AppAnswer => ({
  status: 503,
  headers: { ...TEXT, 'retry-after': String(seconds), ...ended(method) },
  body: 'It is waking up. Try again in a moment.\n',
})

const page = (
  status: number,
  method: string,
  { html, policy }: WakerPage,
  headers: AppAnswer['headers'] = {},
): AppAnswer => ({
  status,
  headers: {
    ...COMMON,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    ...headers,
  },
  body: method === 'HEAD' ? '' : html,
})

const json = (value: object): AppAnswer => ({
  status: 200,
  headers: { ...NO_PAGE, 'content-type': PROGRESS_TYPE },
  body: JSON.stringify(value),
})
