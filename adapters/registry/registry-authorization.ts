import { parseJson } from '../json/parse-json.ts'
import { tokenAnswer } from './answers.validators.ts'
import type { RegistryCredentials } from './docker-config.ts'
import type { ImageRepository } from './registry-address.ts'
import { type Challenge, parseChallenge } from './registry-challenge.ts'
import { errorText, isSafeStep, type RegistryAnswer, type RegistryExchange } from './registry-exchange.ts'
import { RegistryFailure } from './registry-problem.ts'

/** An `Authorization` header, and whether it represents a user's login. */
export interface Authorization {
  readonly header: string | undefined
  readonly isLogin: boolean
}

const NOBODY: Authorization = { header: undefined, isLogin: false }

/**
 * Obtains the authorization that registries require: the login itself (Basic), or a token of the registry's token
 * service for one repository (Bearer), either anonymous or for the logged-in user. Reads credentials only when a
 * registry requires them. Reuses an authorization that a registry has accepted for a repository.
 */
export class Authorizer {
  readonly #exchange: RegistryExchange
  readonly #credentials: (registry: string) => Promise<RegistryCredentials>
  readonly #known = new Map<string, Promise<Authorization>>()

  constructor(exchange: RegistryExchange, credentials: (registry: string) => Promise<RegistryCredentials>) {
    this.#exchange = exchange
    this.#credentials = credentials
  }

  /**
   * Returns the authorization that was obtained before for the repository of the address; undefined if there is none.
   * If the registry rejects the authorization, the caller passes it to `renew`.
   */
  for(address: ImageRepository): Promise<Authorization> | undefined {
    return this.#known.get(keyOf(address))
  }

  /**
   * Returns a new authorization after the registry responded with status 401 (`answer`). `refused` is the rejected
   * authorization, if one was sent. Throws a RegistryFailure if no authorization can be obtained.
   */
  renew(
    address: ImageRepository,
    answer: RegistryAnswer,
    refused: Promise<Authorization> | undefined,
  ): Promise<Authorization> {
    const key = keyOf(address)
    const known = this.#known.get(key)
    // Another request for the repository has already renewed the authorization.
    if (known !== undefined && known !== refused) return known
    const fresh = this.#authorize(address, answer)
    this.#known.set(key, fresh)
    return fresh
  }

  async #authorize(address: ImageRepository, answer: RegistryAnswer): Promise<Authorization> {
    const challenge = parseChallenge(answer.headers['www-authenticate'])
    if (challenge === undefined) return NOBODY
    const credentials = await this.#credentials(address.registry)
    if (challenge.scheme === 'bearer') return this.#token(challenge, address, credentials, answer.url)
    return credentials.kind === 'login' ? { header: basic(credentials), isLogin: true } : NOBODY
  }

  /**
   * Requests a token from the token service (https://distribution.github.io/distribution/spec/auth/token/ and
   * …/oauth/).
   */
  async #token(
    { realm, service, scope }: Extract<Challenge, { readonly scheme: 'bearer' }>,
    address: ImageRepository,
    credentials: RegistryCredentials,
    registry: URL,
  ): Promise<Authorization> {
    if (!isSafeStep(registry, realm))
      throw new RegistryFailure({
        kind: 'not-a-registry',
        reason: `its token service, \`${realm.host}\`, cannot be trusted with a login: it is not encrypted, or is on this machine`,
      })
    const wanted = new URLSearchParams({ ...(service !== undefined && { service }), scope: scopeOf(scope, address) })
    const isLogin = credentials.kind !== 'none'
    const answer = await this.#exchange.ask(
      credentials.kind === 'token'
        ? refresh(realm, wanted, credentials.identityToken)
        : {
            method: 'GET',
            url: withQuery(realm, wanted),
            headers: credentials.kind === 'login' ? { authorization: basic(credentials) } : {},
          },
    )
    if (answer.status >= 400 && answer.status < 500 && answer.status !== 404) {
      const said = errorText(answer)
      throw new RegistryFailure({
        kind: 'denied',
        login: isLogin ? 'refused' : 'none',
        ...(said !== undefined && { said }),
      })
    }
    return { header: `Bearer ${tokenIn(answer, realm)}`, isLogin }
  }
}

const keyOf = ({ host, repository, access }: ImageRepository) => `${host}/${repository} ${access}`

const basic = ({ username, password }: Extract<RegistryCredentials, { readonly kind: 'login' }>): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/**
 * Returns the scope to request: `asked`, the scope that the registry names, if it grants no more than the needed
 * access; otherwise a scope for the repository of the address. `asked` may contain another path of the repository.
 */
function scopeOf(asked: string | undefined, { repository, access }: ImageRepository): string {
  const actions = access === 'push' ? '(?:pull,push|push,pull)' : 'pull'
  const isFit = asked !== undefined && new RegExp(`^repository:[^\\s:]+(?::\\d+/[^\\s:]+)?:${actions}$`).test(asked)
  return isFit ? asked : `repository:${repository}:${access === 'push' ? 'pull,push' : 'pull'}`
}

function withQuery(realm: URL, wanted: URLSearchParams): URL {
  const url = new URL(realm)
  for (const [name, value] of wanted) url.searchParams.set(name, value)
  return url
}

function refresh(realm: URL, wanted: URLSearchParams, identityToken: string) {
  const body = new URLSearchParams(wanted)
  body.set('grant_type', 'refresh_token')
  body.set('client_id', 'devctl')
  body.set('refresh_token', identityToken)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { method: 'POST', url: realm, headers, body: body.toString() } as const
}

function tokenIn({ status, body }: RegistryAnswer, realm: URL): string {
  const refuse = (why: string) =>
    new RegistryFailure({
      kind: 'not-a-registry',
      reason: `its token service, \`${realm.host}\`, does not answer with a token: ${why}`,
    })
  if (status !== 200) throw refuse(`status ${status}`)
  const answer = parseJson(body.toString('utf8'), tokenAnswer)
  if (!answer.ok) throw refuse(answer.problem)
  const token = answer.value.token || answer.value.access_token
  if (!token) throw refuse('`token` is missing')
  // The token becomes part of a header.
  if (!/^[\x21-\x7e]+$/.test(token)) throw refuse('`token` contains spaces or other characters that no token has')
  return token
}
