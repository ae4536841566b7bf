import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { IssuedToken } from '../../records/token.ts'
import type { PlatformUser } from '../../records/user.ts'
import { type CiTrust, jobsOf, ruleFor, toCiJob } from '../../rules/accounts/ci-trust.ts'
import { Limiter } from '../../rules/accounts/limiter.ts'
import { discoveryUrl } from '../../rules/accounts/provider.ts'
import type { ServerContext } from '../context.ts'
import { PlatformError } from '../http/platform-error.ts'
import { providerFetch } from './providers/provider-fetch.ts'
import type { Tokens } from './tokens.ts'
import type { ProvenIdentity, Users } from './users.ts'

/** Accepted signature algorithms. They all use asymmetric keys: no shared secrets, and never `none`. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Cache and timeout settings of the key set, in milliseconds. */
const KEYS = { cacheMaxAge: 600_000, cooldownDuration: 30_000, timeoutDuration: 10_000 }
/** Time in milliseconds for which the key set address of an issuer is cached. */
const KEPT = 600_000
/** Rate limit for logins by the jobs of one repository; each login creates a token that is valid for an hour. */
const OF_ONE = { burst: 60, every: 10_000, keys: 10_000 }

/**
 * Exchanges the token that a CI system issued to a job for a platform token. The issuers' keys are cached for minutes.
 * The cache is small, because only issuers in the settings are trusted.
 */
export class CiExchange {
  readonly #world: Pick<ServerContext, 'settings' | 'now'>
  readonly #accounts: { readonly tokens: Tokens; readonly users: Users }
  readonly #limiter = new Limiter(OF_ONE)
  readonly #keys = new Map<string, { readonly until: number; readonly keys: Promise<JWTVerifyGetKey> }>()

  constructor(
    world: Pick<ServerContext, 'settings' | 'now'>,
    accounts: { readonly tokens: Tokens; readonly users: Users },
  ) {
    this.#world = world
    this.#accounts = accounts
  }

  /**
   * Exchanges the token of a job for a platform token. The platform token is valid for an hour, and only for previews
   * whose names begin with the prefix of the rule that allows the job. Throws a PlatformError.
   */
  async exchange(jwt: string): Promise<{ readonly issued: IssuedToken; readonly user: PlatformUser }> {
    const trust = this.#trusted(jwt)
    const claims = await this.#verified(jwt, trust)
    const job = toCiJob(trust.kind, claims)
    if (!job) throw notAccepted('it has no numeric id of the repository')
    const rule = ruleFor(job, trust.rules)
    if (!rule)
      throw new PlatformError(403, 'ci-rule', 'no rule of the platform allows this job', {
        notes: [`repository ${job.repository}, owner ${job.owner}, ref \`${job.ref}\`, event \`${job.event}\``],
        hint: 'an administrator can add one to `ci` of the settings (docs/platform/install.md)',
      })
    // The subject is the numeric id of the repository, not a person.
    const identity: ProvenIdentity = {
      issuer: trust.issuer,
      subject: jobsOf(job.repository),
      login: `ci:${job.name.replaceAll(/[^\w./-]/g, '') || job.repository}`,
    }
    const user = await this.#accounts.users.loggedIn(identity)
    if (user.isSuspended) throw new PlatformError(403, 'suspended', `\`${user.login}\` is suspended`)
    const wait = this.#limiter.take(user.id, performance.now())
    if (wait > 0)
      throw new PlatformError(429, 'too-many', `too many logins of jobs of \`${user.login}\``, {
        hint: `try again in ${Math.ceil(wait / 1000)} s`,
      })
    const wanted = { kind: 'ci', label: job.ref.slice(0, 60), user: user.id, prefix: rule.prefix } as const
    return { issued: await this.#accounts.tokens.issue(wanted), user }
  }

  #trusted(jwt: string): CiTrust {
    let issuer: string | undefined
    try {
      issuer = decodeJwt(jwt).iss
    } catch {
      throw notAccepted('it is not a JWT')
    }
    const trust = this.#world.settings.ci.find(one => one.issuer === issuer)
    if (!trust) throw notAccepted('the platform does not trust its issuer')
    return trust
  }

  async #verified(jwt: string, { issuer }: CiTrust): Promise<Readonly<Record<string, unknown>>> {
    try {
      const { payload } = await jwtVerify(jwt, await this.#keysOf(issuer), {
        issuer,
        audience: this.#world.settings.url,
        algorithms: ALGORITHMS,
        clockTolerance: 30,
        maxTokenAge: 3600,
        requiredClaims: ['exp', 'iat'],
        currentDate: new Date(this.#world.now()),
      })
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) throw notAccepted(error.message)
      throw new PlatformError(503, 'ci-issuer', `the issuer \`${issuer}\` does not answer`, {
        hint: 'try again in a moment',
      })
    }
  }

  #keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const now = this.#world.now()
    const kept = this.#keys.get(issuer)
    if (kept && now < kept.until) return kept.keys
    const found = findKeys(issuer)
    // If the issuer does not respond, the previous keys are used until it is asked again.
    const made = { until: now + KEPT, keys: kept ? found.catch(() => kept.keys) : found }
    this.#keys.set(issuer, made)
    found.catch(() => {
      if (this.#keys.get(issuer) !== made) return
      if (kept) this.#keys.set(issuer, { until: now + KEYS.cooldownDuration, keys: kept.keys })
      else this.#keys.delete(issuer)
    })
    return made.keys
  }
}

/**
 * Returns the key set of an issuer, at the address in its discovery document. The keys are fetched when they are first
 * used.
 */
async function findKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const answer = await providerFetch(discoveryUrl(issuer))
  if (answer.status !== 200) throw new Error(`status ${answer.status}`)
  const { issuer: said, jwks_uri } = (await answer.json()) as Readonly<Record<string, unknown>>
  if (said !== issuer || typeof jwks_uri !== 'string' || !URL.canParse(jwks_uri)) throw new Error('no keys')
  const url = new URL(jwks_uri)
  // An attacker on the network path could replace the keys if the protocol were weaker than the issuer's.
  if (url.protocol !== new URL(issuer).protocol) throw new Error('the keys are not encrypted')
  return createRemoteJWKSet(url, { ...KEYS, [customFetch]: providerFetch })
}

const notAccepted = (why: string): PlatformError => new PlatformError(401, 'ci', `the CI token is not accepted: ${why}`)
