import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
} from 'openid-client'
import { type ProviderSettings, shownText } from '../../../rules/accounts/provider.ts'
import { explained, type OidcContext } from './oidc.ts'
import { type IdentityProvider, LoginError } from './provider.ts'
import { providerFetch } from './provider-fetch.ts'

type GitHub = Extract<ProviderSettings, { kind: 'github' }>

/**
 * Creates a provider for GitHub, which uses OAuth and its own API instead of OpenID Connect
 * (https://docs.github.com/apps/oauth-apps). Users are identified by their numeric id, because user names can be
 * reassigned.
 */
export function githubProvider(settings: GitHub, { callback, clientSecret }: OidcContext): IdentityProvider {
  const { id, allow } = settings
  const url = new URL(settings.url)
  const api = url.hostname === 'github.com' ? 'https://api.github.com' : `${url.origin}/api/v3`

  const configuration = (): Configuration => {
    const secret = clientSecret()
    if (!secret) throw new LoginError('provider-setup', 'there is no client secret')
    const server = {
      issuer: url.origin,
      authorization_endpoint: `${url.origin}/login/oauth/authorize`,
      token_endpoint: `${url.origin}/login/oauth/access_token`,
    }
    const config = new Configuration(server, settings.clientId, { client_secret: secret }, ClientSecretPost(secret))
    config[customFetch] = tokenFetch
    config.timeout = 10
    if (url.hostname === '127.0.0.1') allowInsecureRequests(config)
    return config
  }

  /**
   * Sends a GET request to the API. Returns undefined if GitHub reports that the resource does not exist, or that this
   * user may not see it.
   */
  const get = async (path: string, token: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json', 'user-agent': 'devctl' }
    const answer = await providerFetch(`${api}${path}`, { headers })
    const { status } = answer
    // https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    const isLimit = status === 429 || (status === 403 && isOverLimit(answer))
    if (!isLimit && (status === 404 || status === 403)) return undefined
    if (status !== 200)
      throw new LoginError(
        isLimit || status >= 500 ? 'provider-down' : 'provider-answer',
        `GitHub answers ${status} to ${path}`,
      )
    const value: unknown = await answer.json().catch(() => undefined)
    if (typeof value !== 'object' || value === null) throw new LoginError('provider-answer', `${path} is not JSON`)
    return value as Readonly<Record<string, unknown>> // an object
  }

  const isMember = async (organisation: string, login: string, token: string): Promise<boolean> => {
    const [org = '', team] = organisation.split('/')
    const path =
      team === undefined ? `/user/memberships/orgs/${org}` : `/orgs/${org}/teams/${team}/memberships/${login}`
    return (await get(path, token))?.['state'] === 'active'
  }

  return {
    id,
    async begin({ state, verifier }) {
      return explained(async () =>
        buildAuthorizationUrl(configuration(), {
          redirect_uri: callback,
          scope: allow.length > 0 ? 'read:org' : '',
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          state,
        }),
      )
    },
    async finish(back, { state, verifier }) {
      return explained(async () => {
        const tokens = await authorizationCodeGrant(configuration(), back, {
          expectedState: state,
          pkceCodeVerifier: verifier,
        })
        const token = tokens.access_token
        const user = await get('/user', token)
        const [number, login] = [user?.['id'], user?.['login']]
        if (typeof number !== 'number' || !Number.isSafeInteger(number) || number <= 0)
          throw new LoginError('provider-answer', 'the user has no number')
        if (typeof login !== 'string' || !/^[\w-]{1,100}$/.test(login))
          throw new LoginError('provider-answer', 'the user has no name')
        let isAllowed = allow.length === 0
        for (const one of allow) isAllowed ||= await isMember(one, login, token)
        if (!isAllowed) throw new LoginError('not-admitted', `\`${login}\` is in none of these organisations`)
        const [name, email] = [shownText(user?.['name']), shownText(user?.['email'], 254)]
        return {
          identity: {
            issuer: url.origin,
            subject: String(number),
            login,
            ...(name && { name }),
            ...(email && { email }),
          },
        }
      })
    },
  }
}

/**
 * Returns true if a response reports that the rate limit is exceeded. Every response has the remaining quota, but only
 * a response over the limit has `retry-after`.
 */
const isOverLimit = ({ headers }: Response): boolean =>
  headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'

/**
 * Sends a token request, and converts errors. GitHub reports errors with a successful status, in its own format, but
 * the library expects an OAuth error.
 */
async function tokenFetch(...request: Parameters<typeof providerFetch>): Promise<Response> {
  const answer = await providerFetch(...request)
  if (answer.status !== 200) return answer
  const text = await answer.text()
  const { headers } = answer
  const error = errorIn(text)
  if (error === undefined) return new Response(text, { headers })
  const known = error === 'bad_verification_code' ? 'invalid_grant' : error
  return new Response(JSON.stringify({ error: known }), { status: 400, headers })
}

function errorIn(text: string): string | undefined {
  try {
    const { error } = Object(JSON.parse(text)) as { readonly error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}
