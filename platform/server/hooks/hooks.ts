import { type AskedRepository, commentsOf, factsOf, webhooksOf } from '../../../adapters/forge/api/facts-of.ts'
import { ForgeError } from '../../../adapters/forge/api/failures.ts'
import type { RepositoryFacts } from '../../../adapters/forge/facts.ts'
import type { MarkedComment } from '../../../adapters/forge/forge.ts'
import { ClusterError, type KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import type { NewHook } from '../../api/hooks.ts'
import { API } from '../../api/prefix.ts'
import {
  type DeliveryRecord,
  fromDelivery,
  fromHook,
  fromHookState,
  fromRemoteHook,
  fromUnsigned,
  type HookChange,
  type HookRecord,
  type HookSetup,
  hookRef,
  hookSealedFor,
  LOOK_LABEL,
  TELL_LABEL,
  toHook,
} from '../../records/hook.ts'
import { MANAGER, RECORD_LABEL, rfc3339, USERS_NAMESPACE } from '../../records/names.ts'
import type { PlatformUser } from '../../records/user.ts'
import { isPrefix } from '../../rules/accounts/ci-trust.ts'
import { base32 } from '../../rules/accounts/token.ts'
import { type ForgeServer, forgeServers, type ServedRepository, servedRepository } from '../../rules/forge-servers.ts'
import { namespaceNameProblem } from '../../rules/names.ts'
import { pullPrefix, pullPreviewName } from '../../rules/previews/pull-trust.ts'
import { hookSecret } from '../../rules/previews/webhook-signature.ts'
import { readRepositoryUrl } from '../../rules/repository-url.ts'
import type { ServerContext } from '../context.ts'
import { onlyFor, PlatformError } from '../http/platform-error.ts'
import { KeyedMutex } from '../leader/keyed-mutex.ts'
import type { CloneLogin } from '../namespaces/credentials.ts'
import { requireReservedName } from '../namespaces/reserved-names.ts'
import { checkSource } from '../runs/runs.ts'

/** Maximum number of webhooks of one user. */
const MOST = 20
/** Time in milliseconds for which the list of existing webhooks is cached. */
const KNOWN = 5000
/** Maximum number of attempts for an update that conflicts. The number is high because deliveries arrive in bursts. */
const ATTEMPTS = 20
/** Timeout for one request to a forge, including retries, in milliseconds. */
const ASKING = 15_000
/** Retries of a request when the forge asks to retry later: the number of attempts, and times in milliseconds. */
const RETRIES = { attempts: 2, pause: 500, longest: 1000, asked: 2000 }
/** User name of a clone. Forges accept any user name together with a token. */
const ANYBODY = 'git'

/** The webhooks of repositories, stored in Secrets. The signing secrets and the forge tokens are sealed. */
export class Hooks {
  readonly #world: ServerContext
  #known: { readonly at: number; readonly ids: ReadonlySet<string> } = { at: Number.NEGATIVE_INFINITY, ids: new Set() }
  #reading: Promise<void> | undefined
  /** Serializes concurrent creations, so that each one counts the webhooks created before it. */
  readonly #making = new KeyedMutex()

  constructor(world: ServerContext) {
    this.#world = world
  }

  /**
   * Returns the valid webhooks, oldest first. `isLook` limits the result to webhooks with pull requests to check, and
   * `isTell` to webhooks with comments to write.
   */
  async list({ isLook = false, isTell = false } = {}, signal?: AbortSignal): Promise<readonly HookRecord[]> {
    const of = [isLook ? `,${LOOK_LABEL}=true` : '', isTell ? `,${TELL_LABEL}=true` : '']
    const labels = `${RECORD_LABEL}=hook${of.join('')}`
    const query = { apiVersion: 'v1', kind: 'Secret', namespace: USERS_NAMESPACE, labels }
    const found = (await this.#world.cluster.list(query, { signal })).flatMap(one => toHook(one) ?? [])
    return found.sort((a, b) => (a.created < b.created ? -1 : 1))
  }

  /** Returns the servers of all webhooks, except servers that the platform may no longer contact. */
  async servers(signal?: AbortSignal): Promise<readonly ForgeServer[]> {
    return (await this.list({}, signal)).flatMap(({ repository, forge }) => {
      const found = this.#findServed(repository, forge)
      if (!found.ok) return []
      const { kind, web, api } = found.repository
      return [{ kind, url: web, ...(api !== undefined && { api }) }]
    })
  }

  /** Returns true if a webhook exists, according to a list that is at most a few seconds old. */
  async isKnown(id: string): Promise<boolean> {
    if (this.#world.now() - this.#known.at > KNOWN) await this.#readKnown()
    return this.#known.ids.has(id)
  }

  /** Reads the list of webhooks. Concurrent calls share one request. */
  #readKnown(): Promise<void> {
    this.#reading ??= this.list()
      .then(all => {
        this.#known = { at: this.#world.now(), ids: new Set(all.map(one => one.id)) }
      })
      .finally(() => {
        this.#reading = undefined
      })
    return this.#reading
  }

  async find(id: string, signal?: AbortSignal): Promise<HookRecord | undefined> {
    const live = await this.#world.cluster.get(hookRef(id), { signal })
    return live && toHook(live)
  }

  /** Creates a webhook for a user who may write to its repository. Throws a PlatformError. */
  async create(owner: PlatformUser, wanted: NewHook): Promise<{ readonly hook: HookRecord; readonly secret: string }> {
    const { scope = 'personal', forks = 'approve', file } = wanted
    if (scope === 'global' && owner.role !== 'admin') throw onlyFor('deploy global previews', 'an administrator')
    const { url, name } = checkSource({ repository: wanted.repository, file })
    const served = this.#servedAt(url, wanted.forge)
    const prefix = wanted.prefix ?? pullPrefix(name)
    if (!isPrefix(prefix))
      throw new PlatformError(400, 'name', `\`${prefix}\` is not a valid prefix for names of previews`, {
        hint: 'use up to 31 lower-case letters, digits and dashes, with a dash at the end: `shop-`',
      })
    const first = pullPreviewName(prefix, 1)
    const [problem, hint] = [namespaceNameProblem(first), 'choose another prefix with `--prefix`']
    if (problem) throw new PlatformError(400, 'name', `a preview cannot be called \`${first}\`: ${problem}`, { hint })
    requireReservedName(this.#world.settings, owner, first, hint)
    const { id: repositoryId, mayWrite } = await this.#ask(
      factsOf(asked(served, wanted.token, 'webhook'), process.env, RETRIES).repository(within()),
    )
    if (!mayWrite) throw onlyFor('add a webhook', `a token of someone with write access to \`${served.path}\``)
    const { now, random, sealing } = this.#world
    const setup: HookSetup = {
      id: base32(random(10)),
      forge: served.kind,
      repository: url,
      repositoryId,
      owner: owner.id,
      scope,
      forks,
      prefix,
      ...(file !== undefined && { file }),
      created: rfc3339(now()),
    }
    const secret = hookSecret(served.kind, random(32))
    const sealed = {
      secret: sealing.seal(secret, hookSealedFor(setup, 'secret')),
      token: sealing.seal(wanted.token, hookSealedFor(setup, 'token')),
    }
    const hook = await this.#making.run('', () => this.#create(owner, fromHook(setup, sealed), setup))
    if (!hook) throw new PlatformError(500, 'internal', 'something went wrong in the platform')
    return { hook: wanted.create ? await this.#createAtForge(hook, secret) : hook, secret }
  }

  /**
   * Creates the webhook in the settings of its repository. If that fails, deletes the platform's record of the webhook,
   * and throws an error.
   */
  async #createAtForge(hook: HookRecord, secret: string): Promise<HookRecord> {
    const webhook = { address: this.addressOf(hook), secret }
    let remote: number
    try {
      remote = await webhooksOf(this.#asked(hook), process.env, RETRIES).add(webhook, within())
    } catch (error) {
      await this.#world.cluster.delete(hookRef(hook.id))
      throw toPlatformError(error, 'without `--create`, somebody adds it to the repository by hand')
    }
    await this.#world.cluster.patch(hookRef(hook.id), fromRemoteHook(remote), { manager: MANAGER })
    return { ...hook, remote }
  }

  /** Returns the URL to which the forge sends deliveries. */
  addressOf({ forge, id }: HookSetup): string {
    return `${this.#world.settings.url}${API}/hooks/${forge}/${id}`
  }

  async #create(owner: PlatformUser, object: KubeObject, { id, prefix }: HookSetup): Promise<HookRecord | undefined> {
    await this.#requireRoom(owner, prefix)
    const hook = toHook(await this.#world.cluster.create(object))
    try {
      // Another replica may have created webhooks at the same time.
      await this.#requireRoom(owner, prefix, id)
    } catch (error) {
      await this.#world.cluster.delete(hookRef(id)).catch(() => {})
      throw error
    }
    return hook
  }

  /**
   * Deletes a webhook, so that its deliveries are no longer accepted. Its runs and previews remain. If the platform
   * created the webhook in the settings of the repository, removes it from these settings, too. If this removal fails,
   * `left` is the reason.
   */
  async remove(hook: HookRecord): Promise<{ readonly left?: string }> {
    const left = hook.remote === undefined ? undefined : await this.#removeAtForge(hook, hook.remote)
    await this.#world.cluster.delete(hookRef(hook.id))
    return { ...(left !== undefined && { left }) }
  }

  async #removeAtForge(hook: HookRecord, remote: number): Promise<string | undefined> {
    try {
      await webhooksOf(this.#asked(hook), process.env, RETRIES).remove(remote, within())
      return undefined
    } catch (error) {
      const shown = toPlatformError(error)
      if (shown instanceof PlatformError) return shown.message
      throw error
    }
  }

  /** Returns the signing secret; undefined if no key can open it. */
  secretOf(hook: HookRecord): string | undefined {
    return this.#world.sealing.open(hook.sealed.secret, hookSealedFor(hook, 'secret'))
  }

  /**
   * Writes or updates the platform's comment on a pull request, and returns the comment's id. Throws a ForgeError, and
   * the errors of `factsOf`.
   */
  comment(
    hook: HookRecord,
    number: number,
    comment: MarkedComment,
    waiting: { readonly signal: AbortSignal },
  ): Promise<number | undefined> {
    return commentsOf(this.#asked(hook), process.env, RETRIES).comment(number, comment, waiting)
  }

  /**
   * Returns a client of the forge that uses the webhook's token, or the given credential. Throws a PlatformError if the
   * platform may no longer contact the forge.
   */
  factsOf(hook: HookRecord, own?: CloneLogin): RepositoryFacts {
    return factsOf(this.#asked(hook, own), process.env, RETRIES)
  }

  #asked(hook: HookRecord, own?: CloneLogin): AskedRepository {
    const served = this.#servedAt(hook.repository, hook.forge)
    const token = own ? own.password : this.#tokenOf(hook)
    if (token === undefined) throw new PlatformError(503, 'keys', 'the token of the webhook can no longer be read')
    return asked(served, token, own ? 'credentials' : 'webhook')
  }

  /**
   * Returns the credential with which a run of trusted code clones: the token of the webhook that started the run.
   * Returns undefined if the webhook does not exist, has no token, or belongs to another host.
   */
  async cloneLogin(id: string, host: string): Promise<CloneLogin | undefined> {
    const hook = await this.find(id)
    const password = hook && this.#tokenOf(hook)
    return hook && password !== undefined && hostOfHook(hook) === host ? { user: ANYBODY, password } : undefined
  }

  /** Updates the state of a webhook, and retries after a conflict. If `edit` returns undefined, nothing changes. */
  async change(id: string, edit: (hook: HookRecord) => HookChange | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const hook = await this.find(id)
      const state = hook && edit(hook)
      if (!hook || !state) return
      try {
        await this.#patch(hook, state)
        return
      } catch (error) {
        if (!(error instanceof ClusterError) || error.failure !== 'conflict' || attempt >= ATTEMPTS) throw error
      }
    }
  }

  /** Records the last delivery, independently of concurrent changes. */
  async noteDelivery(id: string, delivery: DeliveryRecord): Promise<void> {
    await this.#world.cluster.patch(hookRef(id), fromDelivery(delivery), { manager: MANAGER })
  }

  /** Records that a delivery without a valid signature has arrived. */
  async noteUnsigned(id: string, time: string): Promise<void> {
    await this.#world.cluster.patch(hookRef(id), fromUnsigned(time), { manager: MANAGER })
  }

  #patch({ id, version }: HookRecord, { lastDelivery, ...state }: HookChange): Promise<KubeObject> {
    const { metadata, data } = fromHookState(state)
    const patch = {
      metadata: { ...metadata, resourceVersion: version },
      data: { ...data, ...(lastDelivery && fromDelivery(lastDelivery).data) },
    }
    return this.#world.cluster.patch(hookRef(id), patch, { manager: MANAGER })
  }

  #tokenOf(hook: HookRecord): string | undefined {
    return this.#world.sealing.open(hook.sealed.token, hookSealedFor(hook, 'token'))
  }

  #findServed(url: string, kind: NewHook['forge']): ReturnType<typeof servedRepository> {
    const { forges, providers, ci } = this.#world.settings
    const logins: readonly ForgeServer[] = [
      ...providers.map(one => (one.kind === 'github' ? { kind: one.kind, url: one.url } : { url: one.issuer })),
      ...ci.flatMap(one => (one.kind === 'github' ? [] : [{ kind: one.kind, url: one.issuer }])),
    ]
    return servedRepository(url, forgeServers(forges, logins), kind)
  }

  #servedAt(url: string, kind: NewHook['forge']): ServedRepository {
    const found = this.#findServed(url, kind)
    if (found.ok) return found.repository
    throw new PlatformError(400, 'forge', `\`${url}\` cannot have a webhook: ${found.problem}`, {
      hint: 'a cluster administrator adds servers with `devctl platform install … --forge KIND=URL`; to name the kind of this one, add `--forge KIND`',
    })
  }

  /**
   * Throws a PlatformError if the prefix is in use by another webhook, or the user has the maximum number of webhooks.
   * The webhook with the id `besides` is ignored.
   */
  async #requireRoom(owner: PlatformUser, prefix: string, besides?: string): Promise<void> {
    const all = (await this.list()).filter(one => one.id !== besides)
    if (all.some(one => one.prefix === prefix))
      throw new PlatformError(409, 'exists', `another webhook has the prefix \`${prefix}\``, {
        hint: 'choose another one with `--prefix`',
      })
    if (all.filter(one => one.owner === owner.id).length >= MOST)
      throw new PlatformError(409, 'quota', `you have ${MOST} webhooks, which is the limit`, {
        hint: '`devctl preview hook remove` removes one',
      })
  }

  async #ask<T>(question: Promise<T>): Promise<T> {
    try {
      return await question
    } catch (error) {
      throw toPlatformError(error)
    }
  }
}

/** Returns the host of the webhook's repository, in the form that credentials use. */
export function hostOfHook({ repository }: Pick<HookRecord, 'repository'>): string {
  const read = readRepositoryUrl(repository)
  return read.ok ? read.repository.host : ''
}

/** Returns a signal that is aborted after the time limit for one request to a forge, or with the given signal. */
export const within = (signal?: AbortSignal): { readonly signal: AbortSignal } => ({
  signal: withTimeLimit(ASKING, ...(signal ? [signal] : [])),
})

/**
 * Converts the failure or timeout of a request to the forge to an error response, and returns any other error
 * unchanged. `more` is an additional hint for the caller.
 */
export function toPlatformError(error: unknown, more?: string): unknown {
  if (error instanceof ForgeError) {
    const hints = [error.hint, more].filter(one => one !== undefined)
    return new PlatformError(error.status !== undefined && error.status < 500 ? 400 : 503, 'forge', error.message, {
      ...(hints.length > 0 && { hint: hints.join('; ') }),
    })
  }
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return new PlatformError(503, 'forge', 'the forge did not answer in time', { hint: 'try again in a moment' })
  return error
}

function asked(served: ServedRepository, token: string, tokenName: string): AskedRepository {
  // The token is sent in a header, so other characters are refused.
  if (/[^\x21-\x7e]/.test(token)) throw new PlatformError(400, 'value', 'a token has no spaces or special characters')
  return { ...served, token, tokenName }
}
