import { createHash } from 'node:crypto'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGER, RECORD_LABEL, rfc3339, USERS_NAMESPACE } from '../../records/names.ts'
import { fromOneTime, type OneTime, oneTimeName, toOneTime } from '../../records/one-time.ts'
import { base32, isSecretOf, isTokenId, secretHash } from '../../rules/accounts/token.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'

/** Lifetimes in milliseconds: of a code for a CLI, and of a device login. */
const CODE_LIFE = 60_000
const DEVICE_LIFE = 600_000
/** Maximum number of pending device logins of all users. */
const MOST_DEVICES = 1000
/** Letters of a typed code: no letters that look alike, and no vowels, so that codes do not spell words. */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'

type Device = Extract<OneTime, { kind: 'device' }>

/** A pending login of a CLI, as shown to the user who has to approve it. */
export interface PendingLogin {
  readonly id: string
  readonly device: Device
}

/**
 * Logins of CLIs: with a browser on the same machine (RFC 8252), or with a code that the user types on another device
 * (RFC 8628). Pending logins are stored in Secrets, so any replica can complete them.
 */
export class Logins {
  readonly #world: ServerContext

  constructor(world: ServerContext) {
    this.#world = world
  }

  /**
   * Returns a code for the login of the CLI that sent the challenge. The code can be used once, and is valid for a
   * minute.
   */
  async allow(user: string, challenge: string, label: string): Promise<string> {
    const { now, random } = this.#world
    const [id, secret] = [this.#newId(), random(24).toString('base64url')]
    const code = secretHash(secret)
    const expires = rfc3339(now() + CODE_LIFE)
    await this.#put(id, { kind: 'code', user, label, challenge: `${challenge}.${code}`, expires })
    return `${id}.${secret}`
  }

  /**
   * Returns the user of a code, and the label of the token to create. Throws a PlatformError if the code is invalid or
   * the verifier does not match.
   */
  async exchange(code: string, verifier: string): Promise<{ readonly user: string; readonly label: string }> {
    const [id = '', secret = ''] = code.split('.')
    const found = isTokenId(id) ? await this.#get(id) : undefined
    if (found?.kind !== 'code') throw badCode()
    const [challenge = '', hash = ''] = found.challenge.split('.')
    const isRight = isSecretOf(hash, secret)
    // A caller with the code but without the verifier has stolen the code, so the code is deleted, too.
    if (isRight && !(await this.#remove(id))) throw badCode()
    if (!isRight || createHash('sha256').update(verifier).digest('base64url') !== challenge) throw badCode()
    return found
  }

  /** Starts a device login. Throws a PlatformError if too many logins are pending. */
  async ask(label: string): Promise<{ readonly device: string; readonly code: string; readonly expires: string }> {
    const { now, random } = this.#world
    const waiting = (await this.#all()).filter(one => this.#good(one)?.kind === 'device')
    if (waiting.length >= MOST_DEVICES)
      throw new PlatformError(503, 'busy', 'too many logins are waiting for a code', {
        hint: 'try again in a few minutes',
      })
    const [id, secret] = [this.#newId(), random(32).toString('base64url')]
    const letters = [...random(8)].map(byte => CODE_LETTERS[byte % CODE_LETTERS.length]).join('')
    const expires = rfc3339(now() + DEVICE_LIFE)
    const code = `${secretHash(letters)}.${secretHash(secret)}`
    await this.#put(id, { kind: 'device', label, code, created: rfc3339(now()), expires })
    return { device: `${id}.${secret}`, code: `${letters.slice(0, 4)}-${letters.slice(4)}`, expires }
  }

  /** Returns the pending login that a typed code belongs to. Throws a PlatformError for a wrong code. */
  async look(code: string): Promise<PendingLogin> {
    const letters = code.toUpperCase().replaceAll(/[^A-Z]/g, '')
    for (const object of await this.#all()) {
      const device = this.#good(object)
      if (device?.kind !== 'device' || device.user !== undefined || device.isRefused) continue
      if (isSecretOf(device.code.split('.')[0] ?? '', letters)) return { id: object.metadata.name.slice(2), device }
    }
    throw new PlatformError(404, 'code', 'this code is unknown; it may have expired', {
      hint: 'check the code; `devctl context use` shows a new one',
    })
  }

  async answer({ id, device }: PendingLogin, user: string, isAllowed: boolean): Promise<void> {
    await this.#put(id, { ...device, ...(isAllowed ? { user } : { isRefused: true }) }, true)
  }

  /**
   * Returns the user who has approved a login, and the login's label; undefined if no user has approved it yet. Throws
   * a PlatformError if the login was refused or has expired.
   */
  async poll(text: string): Promise<{ readonly user: string; readonly label: string } | undefined> {
    const [id = '', secret = ''] = text.split('.')
    const found = isTokenId(id) ? await this.#get(id) : undefined
    if (found?.kind !== 'device' || !isSecretOf(found.code.split('.')[1] ?? '', secret))
      throw new PlatformError(410, 'device', 'this login has expired', { hint: 'run `devctl context use` again' })
    if (found.isRefused) throw new PlatformError(403, 'refused', 'the login was refused in the browser')
    if (found.user === undefined || !(await this.#remove(id))) return undefined
    return { user: found.user, label: found.label }
  }

  #all(): Promise<readonly KubeObject[]> {
    const labels = `${RECORD_LABEL}=one-time`
    return this.#world.cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: USERS_NAMESPACE, labels })
  }

  #newId(): string {
    return base32(this.#world.random(10)).slice(0, 16)
  }

  async #put(id: string, value: OneTime, isThere = false): Promise<void> {
    const { cluster } = this.#world
    if (!isThere) await cluster.create(fromOneTime(id, value))
    else {
      const { apiVersion, kind, metadata, data } = fromOneTime(id, value)
      await cluster.patch({ apiVersion, kind, ...metadata }, { data }, { manager: MANAGER })
    }
  }

  async #get(id: string): Promise<OneTime | undefined> {
    const ref = { apiVersion: 'v1', kind: 'Secret', name: oneTimeName(id), namespace: USERS_NAMESPACE }
    const live = await this.#world.cluster.get(ref)
    return live && this.#good(live)
  }

  #good(object: KubeObject): OneTime | undefined {
    const value = toOneTime(object)
    return value && Date.parse(value.expires) > this.#world.now() ? value : undefined
  }

  #remove(id: string): Promise<boolean> {
    const { cluster } = this.#world
    return cluster.delete({ apiVersion: 'v1', kind: 'Secret', name: oneTimeName(id), namespace: USERS_NAMESPACE })
  }
}

const badCode = () =>
  new PlatformError(401, 'code', 'this login code is wrong, was already used, or has expired', {
    hint: 'run `devctl context use` again',
  })
