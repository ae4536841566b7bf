import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  refreshTokenGrant,
} from 'openid-client'
import { type ClaimRule, isAdmitted, type ProviderSettings, shownText } from '../../../rules/accounts/provider.ts'
import { type IdentityProvider, LoginError, type LoginFlow } from './provider.ts'
import { LONGEST_REFRESH, Renewals } from './renewals.ts'

/** Time in milliseconds for which the provider's metadata is cached. */
const KEPT = 3_600_000
/** Maximum length of a subject in characters, according to the specification. */
const LONGEST_SUBJECT = 255
/** The scope that requests a refresh token (OpenID Connect Core 1.0, section 11). */
const OFFLINE = 'offline_access'
/** The result for an account whose claims the provider cannot return now. */
const DOWN = 'down'

export interface OidcContext {
  /** The redirect URI. */
  readonly callback: string
  /** Returns the client secret; undefined if it does not exist. */
  clientSecret(): string | undefined
  now(): number
}

/**
 * Creates a provider for OpenID Connect with a confidential client. It uses the code flow with PKCE, state and nonce.
 */
export function oidcProvider(
  { id, issuer, clientId, allow }: Extract<ProviderSettings, { kind: 'oidc' }>,
  { callback, clientSecret, now }: OidcContext,
): IdentityProvider {
  const renewals = new Renewals()
  let kept: { readonly secret: string; readonly until: number; readonly config: Promise<Configuration> } | undefined

  /** Returns the provider's configuration. Concurrent callers share one request; a failure is not cached. */
  const configuration = (): Promise<Configuration> => {
    const secret = clientSecret()
    if (!secret) throw new LoginError('provider-setup', 'there is no client secret')
    if (kept?.secret === secret && now() < kept.until) return kept.config
    const config = discover(new URL(issuer), clientId, secret, renewals)
    const made = { secret, until: now() + KEPT, config }
    kept = made
    config.catch(() => {
      if (kept === made) kept = undefined
    })
    return config
  }

  return {
    id,
    async begin({ state, nonce, verifier }) {
      return explained(async () => {
        const config = await configuration()
        // Optional scopes, which are requested only if the provider supports them: for later account checks, and for
        // rules about groups.
        const scopes = ['openid', 'profile', 'email', ...[OFFLINE, 'groups'].filter(one => supports(config, one))]
        return buildAuthorizationUrl(config, {
          redirect_uri: callback,
          scope: scopes.join(' '),
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          state,
          nonce,
        })
      })
    },
    async finish(back, flow) {
      return explained(async () => {
        const config = await configuration()
        const tokens = await authorizationCodeGrant(config, back, checksOf(flow))
        const proven = tokens.claims()
        if (!proven) throw new LoginError('provider-answer', 'there is no ID token')
        const { iss, sub } = proven
        if (sub.length > LONGEST_SUBJECT) throw new LoginError('provider-answer', 'the subject is too long')
        const hasMore = config.serverMetadata().userinfo_endpoint !== undefined
        const more = hasMore ? await fetchUserInfo(config, tokens.access_token, sub) : {}
        // Signed claims take precedence.
        const claims: Readonly<Record<string, unknown>> = { ...more, ...proven }
        if (!isAdmitted(claims, allow)) throw new LoginError('not-admitted', `no rule admits \`${sub}\``)
        const [name, email] = [shownText(claims['name']), shownText(claims['email'], 254)]
        const login = shownText(claims['preferred_username']) ?? shownText(claims['nickname']) ?? email ?? sub
        const refresh = tokens.refresh_token
        // The user could have removed the scope, because the request goes through the user's browser.
        if (!refresh && supports(config, OFFLINE))
          throw new LoginError(
            'no-refresh',
            `no refresh token, although \`${OFFLINE}\` was requested: the provider has to allow it`,
          )
        return {
          identity: { issuer: iss, subject: sub, login, ...(name && { name }), ...(email && { email }) },
          ...(refresh && refresh.length <= LONGEST_REFRESH && { refreshToken: refresh }),
        }
      })
    },
    async ask(refreshToken, subject, { signal, renewed }) {
      return explained(async () => {
        const config = await configuration()
        // Another replica may already ask with the same token.
        signal.throwIfAborted()
        const tokens = await renewals.during(refreshToken, renewed, () => refresh(config, refreshToken))
        signal.throwIfAborted()
        if (!tokens) return false
        const proven = tokens.claims()
        const hasMore = config.serverMetadata().userinfo_endpoint !== undefined
        const more = hasMore ? await accountOf(config, tokens.access_token, subject) : {}
        if (!more || (proven && proven.sub !== subject)) return false
        const isDown = more === DOWN
        const claims: Readonly<Record<string, unknown>> = { ...(!isDown && more), ...proven }
        const isNamed = ({ claim }: ClaimRule) => Object.hasOwn(claims, claim)
        // A response without the claims that the rules use does not revoke anything.
        const isTold = isDown ? allow.every(isNamed) : proven !== undefined || allow.some(isNamed)
        return !isTold || isAdmitted(claims, allow)
      })
    },
  }
}

/** Uses a refresh token up. Returns undefined if the provider does not accept it. */
const refresh = (config: Configuration, refreshToken: string) =>
  refreshTokenGrant(config, refreshToken).catch(error => {
    if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return undefined
    throw error
  })

/**
 * Returns the provider's claims about an account that has just received a new token; undefined if the provider rejects
 * the token. Gitea issues new tokens even to deactivated accounts, and then responds with an HTML page. If the provider
 * cannot respond now, returns `DOWN` instead of throwing.
 */
async function accountOf(
  config: Configuration,
  token: string,
  subject: string,
): Promise<Readonly<Record<string, unknown>> | typeof DOWN | undefined> {
  try {
    return await explained(() => fetchUserInfo(config, token, subject))
  } catch (error) {
    const isDown = (error as LoginError).problem === 'provider-down' || statusOf(error) === 429 // what `explained` throws
    return isDown ? DOWN : undefined
  }
}

const supports = (config: Configuration, scope: string): boolean =>
  config.serverMetadata().scopes_supported?.includes(scope) === true

const checksOf = ({ state, nonce, verifier }: LoginFlow) => ({
  expectedState: state,
  expectedNonce: nonce,
  pkceCodeVerifier: verifier,
  idTokenExpected: true,
})

function discover(issuer: URL, clientId: string, secret: string, renewals: Renewals): Promise<Configuration> {
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(issuer.hostname)
  return discovery(issuer, clientId, { client_secret: secret }, clientAuth(secret), {
    [customFetch]: (...request) => renewals.fetch(...request),
    timeout: 10,
    // Signatures are verified even though TLS authenticates the sender. Only requests to this machine may be
    // unencrypted.
    execute: [enableNonRepudiationChecks, ...(isLoopback ? [allowInsecureRequests] : [])],
  })
}

/**
 * Returns the client authentication method: `client_secret_post` if the provider supports it, otherwise
 * `client_secret_basic`, which is the default of the specification.
 */
const clientAuth =
  (secret: string): ClientAuth =>
  (server, ...rest) => {
    const isPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    return (isPost ? ClientSecretPost(secret) : basicAuth(secret))(server, ...rest)
  }

/**
 * Returns basic authentication according to RFC 6749, section 2.3.1, with as few escapes as possible: Gitea does not
 * decode escapes, and the library's own `ClientSecretBasic` escapes the dashes of a UUID.
 */
const basicAuth =
  (secret: string): ClientAuth =>
  (_server, { client_id }, _body, headers) => {
    const escaped = (text: string) => new URLSearchParams([['', text]]).toString().slice(1)
    const both = `${escaped(client_id)}:${escaped(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(both).toString('base64')}`)
  }

/** Runs an operation, and converts errors of the library to a LoginError with the reason. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof LoginError) throw error
    const { message, code, cause } = error as Error & { readonly code?: unknown }
    const said = error instanceof ResponseBodyError || error instanceof AuthorizationResponseError
    const detail = said
      ? `${message}: ${shownText(error.error)}`
      : [message, ...(cause instanceof Error ? [cause.message] : [])].join(': ')
    const told = (problem: LoginError['problem']) => new LoginError(problem, detail, { cause: error })
    if (error instanceof AuthorizationResponseError)
      throw told(error.error === 'access_denied' ? 'refused' : 'provider-setup')
    if (error instanceof ResponseBodyError) throw told(error.error === 'invalid_grant' ? 'expired' : 'provider-setup')
    if (statusOf(error) === 401) throw told('provider-setup')
    // Library errors about a response have one of these codes; all other errors are connection errors.
    const isAnswer = typeof code === 'string' && /^OAUTH_(?!TIMEOUT|ABORT)/.test(code)
    throw told(isAnswer && (statusOf(error) ?? 0) < 500 ? 'provider-answer' : 'provider-down')
  }
}

/** Returns the status of the response that caused an error; undefined if the error has no such cause. */
function statusOf(error: unknown): number | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const found = at.cause instanceof Response ? at.cause.status : (at as { status?: unknown }).status
    if (typeof found === 'number') return found
  }
  return undefined
}
