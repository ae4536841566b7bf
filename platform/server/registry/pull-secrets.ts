import { pause } from '../../../adapters/http/back-off.ts'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, MANAGER, PULL_SECRET, RECORD_LABEL, rfc3339, USER_LABEL } from '../../records/names.ts'
import { toNamespace } from '../../records/namespace.ts'
import { barredAt } from '../../records/user.ts'
import { splitRegistry } from '../../rules/registry/registry-access.ts'
import type { ServerContext } from '../context.ts'
import type { LeaderTask } from '../leader/leader.ts'
import type { Users } from '../login/users.ts'
import { type NamespaceId, registryPassword } from './registry-logins.ts'

/** Milliseconds for which a login of Pods is valid. */
const LIFETIME = 4 * 3_600_000
/** Milliseconds after which it is replaced. */
const RENEWAL = LIFETIME / 4
const EVERY = 30_000
/** Namespaces that are processed at the same time. */
const TOGETHER = 4
/** Milliseconds until new rights take effect, and between two attempts. */
const RIGHTS = 10_000
const AGAIN = 50
/** Attempts to update a ServiceAccount that others update, too. */
const CONFLICTS = 5

/**
 * The logins with which Pods of namespaces pull: a Secret in each namespace, which the ServiceAccount `default` refers
 * to, so that no manifest has to. It can pull images of its namespace and shared ones, and nothing else.
 */
export class PullSecrets {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  /** False if the registry does not accept tokens of the platform. */
  get isUsed(): boolean {
    const { settings, registryKey } = this.#world
    return settings.registry !== undefined && registryKey !== undefined
  }

  /**
   * The first login of a namespace that was just created: the API server may not know the platform's rights in it yet.
   */
  async begin(namespace: NamespaceId): Promise<void> {
    const until = AbortSignal.timeout(RIGHTS)
    for (;;) {
      try {
        return await this.renew(namespace)
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'forbidden' || until.aborted) throw error
        await pause(AGAIN, undefined)
      }
    }
  }

  /** Writes a new login into a namespace, and makes its Pods use it. */
  async renew(namespace: NamespaceId, signal?: AbortSignal): Promise<void> {
    const { cluster, settings, now } = this.#world
    if (!this.isUsed) return
    const { host } = splitRegistry(settings.registry!)
    for (let attempt = 1; attempt <= CONFLICTS; attempt++) {
      const pullLogins = await this.#wanted(namespace, signal)
      const made = now()
      const of = { namespace, made, ...(pullLogins !== undefined && { pullLogins }) }
      const secret = pullSecret(namespace.name, host, registryPassword(this.#world, { ...of, ends: made + LIFETIME }))
      await cluster.apply(secret, { manager: MANAGER, force: true, ...(signal && { signal }) })
      // Another replica may have written the login that is valid now.
      if ((await this.#wanted(namespace, signal)) === pullLogins) break
    }
    await this.#use(namespace.name, signal)
  }

  async #wanted({ name }: NamespaceId, signal: AbortSignal | undefined): Promise<string | undefined> {
    const live = await this.#world.cluster.get(
      { apiVersion: 'v1', kind: 'Namespace', name },
      { ...(signal && { signal }) },
    )
    return live && toNamespace(live)?.pullLogins
  }

  /** Entries of others in the ServiceAccount stay. */
  async #use(namespace: string, signal: AbortSignal | undefined): Promise<void> {
    const { cluster } = this.#world
    const ref = { apiVersion: 'v1', kind: 'ServiceAccount', name: 'default', namespace }
    const options = { manager: MANAGER, ...(signal && { signal }) }
    for (let attempt = 1; ; attempt++) {
      try {
        const live = await cluster.get(ref, { ...(signal && { signal }) })
        const secrets = live ? secretsOf(live) : []
        if (secrets.some(({ name }) => name === PULL_SECRET)) return
        const imagePullSecrets = [...secrets, { name: PULL_SECRET }]
        const { apiVersion, kind, name } = ref
        if (live) {
          const { resourceVersion } = live.metadata
          await cluster.patch(ref, { metadata: { resourceVersion }, imagePullSecrets }, options)
        } else {
          // The cluster creates the account shortly after its namespace; by then it exists.
          await cluster.apply({ apiVersion, kind, metadata: { name, namespace }, imagePullSecrets }, options)
        }
        return
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= CONFLICTS) throw error
      }
    }
  }
}

function secretsOf(account: KubeObject): readonly { readonly name: string }[] {
  const found = account['imagePullSecrets']
  return Array.isArray(found) ? found : []
}

function pullSecret(namespace: string, host: string, password: string): KubeObject {
  const login = { username: 'pods', password, auth: Buffer.from(`pods:${password}`).toString('base64') }
  const config = JSON.stringify({ auths: { [host]: login } })
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: PULL_SECRET, namespace, labels: { [MANAGED_LABEL]: 'true' } },
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
  }
}

/** Renews the logins of all namespaces. A failure of one is logged, and does not affect the others. */
export function pullSecretsTask(world: ServerContext, secrets: PullSecrets, users: Pick<Users, 'all'>): LeaderTask {
  const { cluster, now } = world
  /** When this replica renewed each login, and the id that valid logins had then, by uid. */
  const renewed = new Map<string, { readonly at: number; readonly pullLogins: string | undefined }>()

  /** When a member of each namespace was last suspended or refused, by its name; earlier logins are invalid. */
  const barredIn = async (signal: AbortSignal): Promise<ReadonlyMap<string, number>> => {
    const found = new Map<string, number>()
    for (const user of await users.all()) {
      const barred = barredAt(user)
      // Logins from before that have expired by now.
      if (barred === undefined || barred < now() - LIFETIME) continue
      const labels = `${RECORD_LABEL}=member,${USER_LABEL}=${user.id}`
      const bindings = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', labels }
      for (const { metadata } of await cluster.list(bindings, { signal })) {
        const { namespace = '' } = metadata
        found.set(namespace, Math.max(barred, found.get(namespace) ?? 0))
      }
    }
    return found
  }

  const tryOne = async (object: KubeObject, barred: ReadonlyMap<string, number>, signal: AbortSignal) => {
    const namespace = toNamespace(object)
    if (namespace?.uid === undefined || namespace.status === 'Deleting') return
    const { name, uid, pullLogins } = namespace
    const last = renewed.get(uid)
    const isGood = last && last.pullLogins === pullLogins && last.at > (barred.get(name) ?? 0)
    if (isGood && now() - last.at < RENEWAL) return
    try {
      const at = now()
      await secrets.renew({ name, uid }, signal)
      renewed.set(uid, { at, pullLogins })
    } catch (error) {
      signal.throwIfAborted()
      world.log({ time: rfc3339(now()), text: `the login of ${name} for the registry: ${error}` })
    }
  }

  return {
    name: 'logins for the registry',
    everyMs: EVERY,
    async run(signal) {
      if (!secrets.isUsed) return
      const query = { apiVersion: 'v1', kind: 'Namespace', labels: `${MANAGED_LABEL}=true` }
      const there = new Set<string>()
      const barred = await barredIn(signal)
      for await (const page of cluster.pages(query, { signal })) {
        for (const { metadata } of page) there.add(metadata.uid ?? '')
        for (let at = 0; at < page.length; at += TOGETHER)
          await Promise.all(page.slice(at, at + TOGETHER).map(one => tryOne(one, barred, signal)))
      }
      for (const uid of renewed.keys()) if (!there.has(uid)) renewed.delete(uid)
    },
  }
}
