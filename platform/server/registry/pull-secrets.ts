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

/** Lifetime of pull credentials in milliseconds. */
const LIFETIME = 4 * 3_600_000
/** Age in milliseconds at which pull credentials are replaced. */
const RENEWAL = LIFETIME / 4
const EVERY = 30_000
/** Maximum number of namespaces that are processed at the same time. */
const TOGETHER = 4
/** Timeout for new rights to take effect, and the interval between two attempts, in milliseconds. */
const RIGHTS = 10_000
const AGAIN = 50
/** Maximum number of attempts to update a ServiceAccount that other writers update, too. */
const CONFLICTS = 5

/**
 * The credentials with which Pods in namespaces pull images. Each namespace has a Secret with its credentials. The
 * ServiceAccount `default` refers to the Secret, so manifests do not have to name it. The credentials allow pulling the
 * images of the namespace and shared images, and nothing else.
 */
export class PullSecrets {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  /** True if the platform writes pull credentials; false if the registry does not accept tokens of the platform. */
  get isUsed(): boolean {
    const { settings, registryKey } = this.#world
    return settings.registry !== undefined && registryKey !== undefined
  }

  /**
   * Writes the first credentials of a namespace that was just created. Retries for a moment, because the platform's
   * rights in the namespace may not be effective yet.
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

  /** Writes new credentials into a namespace, and makes its Pods use them. */
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
      // If another replica has changed the id of valid credentials in the meantime, new credentials are written.
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

  /** Adds the Secret to the ServiceAccount `default`. Existing entries are kept. */
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
          // Kubernetes would create this ServiceAccount shortly after the namespace; by then it already exists.
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

/**
 * Returns the task that renews the credentials of all namespaces. A failure of one namespace is logged and does not
 * affect the others.
 */
export function pullSecretsTask(world: ServerContext, secrets: PullSecrets, users: Pick<Users, 'all'>): LeaderTask {
  const { cluster, now } = world
  /**
   * Last renewal of each namespace's credentials by this replica, by the UID of the namespace: the time in milliseconds
   * since 1970, and the id that valid credentials contained at that time.
   */
  const renewed = new Map<string, { readonly at: number; readonly pullLogins: string | undefined }>()

  /**
   * Returns, by the name of the namespace, the last time at which a member was suspended or refused, in milliseconds
   * since 1970. Credentials of the namespace from before this time are invalid.
   */
  const barredIn = async (signal: AbortSignal): Promise<ReadonlyMap<string, number>> => {
    const found = new Map<string, number>()
    for (const user of await users.all()) {
      const barred = barredAt(user)
      // Credentials from before the suspension have expired by now.
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
