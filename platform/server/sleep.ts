import { pause } from '../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { ASLEEP, fromResting, type RestingObject, toResting, UNFOLLOWED, WOKEN } from '../records/asleep.ts'
import { keeperBinding } from '../records/member.ts'
import { MANAGER, rfc3339 } from '../records/names.ts'
import { LAST_ACTIVE, type ManagedNamespace, type NamespaceStatus, STATUS, toNamespace } from '../records/namespace.ts'
import { busyBy } from './activity.ts'
import { membersObjects } from './members-objects.ts'
import { noNamespace, PlatformError } from './platform-error.ts'
import { keptAwake, REST_RULES, type RestRule, ruleOf } from './resting.ts'
import { openRoutes } from './routes-open.ts'
import { hostOf, type RestedRoute, unfollowed } from './unfollowed.ts'
import type { PlatformWorld } from './world.ts'

/** The field manager of what sleeping and waking change. */
const SLEEP_MANAGER = 'devctl-sleep'
/** Milliseconds: one namespace is woken once in it by people who only open its page. */
export const WAKE_PAUSE = 60_000
/** Milliseconds until the API server follows a new RoleBinding, at most. */
const BINDING = 3000
/** Attempts to change a Namespace that others change, too. */
const ATTEMPTS = 5

/** Milliseconds for a look at routes that rest. */
const LOOKING = 15_000
const UNFOLLOWED_TEXT = 'the ingress controller serves it whatever its class is'

/** A namespace with its object, as it was read. */
interface ReadNamespace {
  readonly live: KubeObject
  readonly namespace: ManagedNamespace
}

/** Puts namespaces to sleep, and wakes them (design, section 5). */
export class Sleep {
  readonly #world: PlatformWorld
  /** Of the namespaces whose routes this replica opens. */
  readonly #opening = new Map<string, Promise<void>>()
  /** Of the namespaces whose routes are looked at after they were put to rest. */
  readonly #looking = new Map<string, Promise<readonly string[]>>()

  constructor(world: PlatformWorld) {
    this.#world = world
  }

  /**
   * Stops what runs in a namespace; gives what is left awake, and why. What was changed before is
   * written down first, so that whoever finds half of it done can go on, or wake all of it. Throws a
   * PlatformError while somebody works in it.
   */
  async sleep(name: string, signal?: AbortSignal): Promise<readonly string[]> {
    const { cluster, now } = this.#world
    await this.#keep(name, signal)
    const busy = await busyBy(cluster, name, now(), signal)
    if (busy !== undefined)
      throw new PlatformError(409, 'busy', `namespace \`${name}\` is in use: ${busy}`, {
        hint: 'wait until a deploy has finished; `devctl down` ends a development container',
      })
    const kept: string[] = []
    const wanted: RestingObject[] = []
    const routes: RestedRoute[] = []
    for await (const [live, rule] of this.#objects(name, signal)) {
      const why = keptAwake(live)
      const one = why === undefined ? rule.remember(live) : undefined
      if (why !== undefined) kept.push(why)
      if (!one) continue
      wanted.push(one)
      const host = one.kind === 'Ingress' ? hostOf(live, this.#world.settings.domain) : undefined
      if (one.kind === 'Ingress' && host !== undefined) routes.push({ one, host })
    }
    await this.#change(name, signal, ({ live, namespace: { status } }) => {
      if (status === 'Deleting' || status === 'DeleteFailed') throw isEnding(name)
      const uids = new Set(wanted.map(({ uid }) => uid))
      const before = toResting(live.metadata.annotations?.[ASLEEP]).filter(({ uid }) => !uids.has(uid))
      const annotations = { [ASLEEP]: fromResting([...before, ...wanted]), [UNFOLLOWED]: null }
      return { status: 'Sleeping', annotations }
    })
    for (const { kind } of REST_RULES)
      await Promise.all(
        wanted.filter(one => one.kind === kind).map(one => this.#patch(name, one, ruleOf(kind).rest(one), signal)),
      )
    this.#look(name, routes)
    return kept
  }

  /**
   * What was found of the routes of a namespace that was just put to sleep: those whose ingress controller goes on to
   * serve them have their class again, and here is what that means, a sentence each.
   */
  async looked(name: string): Promise<readonly string[]> {
    return (await this.#looking.get(name)) ?? []
  }

  #look(name: string, routes: readonly RestedRoute[]): void {
    const { leadsHere, log, now } = this.#world
    if (!leadsHere || routes.length === 0) return
    const looking = this.#restore(name, routes, leadsHere)
      .catch((error): readonly string[] => {
        log({ time: rfc3339(now()), text: `routes of ${name}: ${error}` })
        return []
      })
      .finally(() => {
        if (this.#looking.get(name) === looking) this.#looking.delete(name)
      })
    this.#looking.set(name, looking)
  }

  /** A class that makes no difference is of no use: the controller would go by another one some day. */
  async #restore(
    name: string,
    routes: readonly RestedRoute[],
    leadsHere: NonNullable<PlatformWorld['leadsHere']>,
  ): Promise<readonly string[]> {
    const { log, now } = this.#world
    const found = await unfollowed(routes, leadsHere, AbortSignal.timeout(LOOKING))
    if (found.length === 0) return []
    const { namespace } = await this.#change(name, undefined, ({ namespace: { status } }) =>
      status === 'Sleeping' ? { status, annotations: { [UNFOLLOWED]: 'true' } } : undefined,
    )
    if (namespace.status !== 'Sleeping') return []
    for (const one of found) await this.#patch(name, one, ruleOf(one.kind).wake(one))
    log({ time: rfc3339(now()), text: `${name} sleeps, but who opens its pages does not wake it: ${UNFOLLOWED_TEXT}` })
    return found.map(
      one =>
        `\`ingress/${one.name}\` does not wake the namespace: ${UNFOLLOWED_TEXT}; \`devctl namespace wake ${name}\` wakes it`,
    )
  }

  /**
   * Starts what sleeping has stopped; does nothing when the namespace is awake. Its routes lead to it
   * again as soon as what they lead to is ready: that goes on after the answer.
   */
  async wake(name: string, signal?: AbortSignal): Promise<NamespaceStatus> {
    const time = rfc3339(this.#world.now())
    const { live, namespace } = await this.#change(name, signal, ({ namespace: { status } }) => {
      if (status === 'Sleeping')
        return { status: 'Waking', annotations: { [LAST_ACTIVE]: time, [WOKEN]: time, [UNFOLLOWED]: null } }
      return undefined
    })
    if (namespace.status === 'Deleting' || namespace.status === 'DeleteFailed') throw isEnding(name)
    if (namespace.status !== 'Waking') return namespace.status
    await this.#start(name, toResting(live.metadata.annotations?.[ASLEEP]), signal)
    void this.open(name)
    return 'Waking'
  }

  /** Goes on with a wake that another replica began. */
  async goOn(name: string, signal: AbortSignal): Promise<void> {
    const { live, namespace } = await this.#read(name, signal)
    if (namespace.status !== 'Waking') return
    await this.#start(name, toResting(live.metadata.annotations?.[ASLEEP]), signal)
    await this.open(name)
  }

  /** Opens the routes of a namespace that wakes; resolves when all are. Never rejects. */
  open(name: string): Promise<void> {
    const known = this.#opening.get(name)
    if (known) return known
    const opening = this.#open(name)
      .catch(error => this.#world.log({ time: rfc3339(this.#world.now()), text: `waking ${name}: ${error}` }))
      .finally(() => this.#opening.delete(name))
    this.#opening.set(name, opening)
    return opening
  }

  /** Resolves when no route is being opened or looked at. */
  async settled(): Promise<void> {
    await Promise.all([...this.#opening.values(), ...this.#looking.values()])
  }

  async #open(name: string): Promise<void> {
    const { cluster } = this.#world
    const { live, namespace } = await this.#read(name)
    const routes = toResting(live.metadata.annotations?.[ASLEEP]).filter(({ kind }) => kind === 'Ingress')
    const since = Date.parse(namespace.woken ?? '') || this.#world.now()
    await openRoutes(
      cluster,
      name,
      routes.map(one => one.name),
      this.#world.now() - since,
      async route => {
        const one = routes.find(({ name }) => name === route)
        if (one) await this.#patch(name, one, ruleOf(one.kind).wake(one))
      },
    )
    // Somebody may have put it to sleep again in the meantime: then its routes rest again, too.
    await this.#change(name, undefined, ({ namespace: { status } }) =>
      status === 'Waking' ? { status: 'Active', annotations: { [ASLEEP]: null } } : undefined,
    )
  }

  async #start(name: string, resting: readonly RestingObject[], signal?: AbortSignal): Promise<void> {
    // What somebody has started by hand since then is as they want it.
    const asleep = new Set<string>()
    for await (const [live, rule] of this.#objects(name, signal))
      if (rule.remember(live) === undefined) asleep.add(`${rule.kind} ${live.metadata.uid}`)
    const workloads = resting.filter(({ kind, uid }) => kind !== 'Ingress' && asleep.has(`${kind} ${uid}`))
    await Promise.all(workloads.map(one => this.#patch(name, one, ruleOf(one.kind).wake(one), signal)))
  }

  /** All that can rest, with the rule of its kind. */
  async *#objects(namespace: string, signal?: AbortSignal): AsyncGenerator<readonly [KubeObject, RestRule], void> {
    for (const rule of REST_RULES) {
      const { apiVersion, kind } = rule
      for await (const live of membersObjects(this.#world.cluster, { apiVersion, kind, namespace }, signal))
        yield [live, rule]
    }
  }

  /** Only this very object; one that is gone has nothing to rest. */
  async #patch(namespace: string, { kind, name, uid }: RestingObject, patch: object, signal?: AbortSignal) {
    const { metadata, ...rest } = patch as { readonly metadata?: object }
    const ref = { apiVersion: ruleOf(kind).apiVersion, kind, name, namespace }
    const whole = { ...rest, metadata: { ...metadata, uid } }
    await this.#world.cluster.patch(ref, whole, { manager: SLEEP_MANAGER, signal }).catch(error => {
      if (!(error instanceof ClusterError) || !['not-found', 'conflict'].includes(error.failure)) throw error
    })
  }

  /** Gives the server the rights that sleeping needs: namespaces of an older version do not have them. */
  async #keep(name: string, signal?: AbortSignal): Promise<void> {
    const { cluster } = this.#world
    const until = Date.now() + BINDING
    for (let attempt = 0; ; attempt++) {
      try {
        const deployments = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: name }
        // Whether the first can be read.
        for await (const _ of membersObjects(cluster, deployments, signal)) return
        return
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'forbidden' || Date.now() > until) throw error
      }
      if (attempt === 0) await cluster.apply(keeperBinding(name), { manager: MANAGER, force: true, signal })
      await pause(100, signal)
    }
  }

  async #read(name: string, signal?: AbortSignal): Promise<ReadNamespace> {
    const live = await this.#world.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name }, { signal })
    const namespace = live && toNamespace(live)
    if (!namespace) throw noNamespace(name)
    return { live, namespace }
  }

  /** Changes the Namespace by what is read: of several who want to, one does. Gives it as it is then. */
  async #change(
    name: string,
    signal: AbortSignal | undefined,
    decide: (
      found: ReadNamespace,
    ) =>
      | { readonly status: NamespaceStatus; readonly annotations: Readonly<Record<string, string | null>> }
      | undefined,
  ): Promise<ReadNamespace> {
    for (let attempt = 1; ; attempt++) {
      const found = await this.#read(name, signal)
      const change = decide(found)
      if (!change) return found
      const { resourceVersion } = found.live.metadata
      const metadata = { resourceVersion, labels: { [STATUS]: change.status }, annotations: change.annotations }
      try {
        const ref = { apiVersion: 'v1', kind: 'Namespace', name }
        const live = await this.#world.cluster.patch(ref, { metadata }, { manager: MANAGER, signal })
        return { live, namespace: toNamespace(live) ?? found.namespace }
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= ATTEMPTS) throw error
      }
    }
  }
}

const isEnding = (name: string) => new PlatformError(409, 'deleting', `namespace \`${name}\` is being deleted`)
