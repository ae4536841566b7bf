import { agentFor } from '../../adapters/http/agents.ts'
import { exchangeWhole } from '../../adapters/http/exchange.ts'
import { proxyFor } from '../../adapters/http/proxy.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { Secret } from '../../project/contexts/secret.ts'
import { connectPlatform } from './connect-platform.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Variable in which a GitLab job gets its token, set with `id_tokens` in `.gitlab-ci.yml`. */
const ID_TOKEN = 'DEVCTL_ID_TOKEN'

/** True if this is a CI job that can prove its identity. */
export const isCiJob = (env: Env): boolean =>
  Boolean(env[ID_TOKEN] || (env.ACTIONS_ID_TOKEN_REQUEST_URL && env.ACTIONS_ID_TOKEN_REQUEST_TOKEN))

/** Exchanges the CI job's identity token for a platform token. Throws a UserError. */
export async function loginAsJob(url: string, env: Env, signal: AbortSignal): Promise<Secret> {
  const jwt = env[ID_TOKEN] || (await fromActions(url, env, signal))
  const { token } = await connectPlatform(url, undefined, env).call('POST /auth/ci', { body: { jwt } }, signal)
  return new Secret(token)
}

/** Requests an identity token from GitHub Actions: https://docs.github.com/actions/reference/security/oidc */
async function fromActions(audience: string, env: Env, signal: AbortSignal): Promise<string> {
  const url = new URL(env.ACTIONS_ID_TOKEN_REQUEST_URL ?? '')
  url.searchParams.set('audience', audience)
  const headers = { authorization: `Bearer ${env.ACTIONS_ID_TOKEN_REQUEST_TOKEN}`, accept: 'application/json' }
  const limits = { silence: 20_000, limit: 64 * 1024 }
  const refuse = (why: string, cause?: unknown) =>
    new UserError(`the CI gives this job no token: ${why}`, {
      hint: 'the job needs `permissions: {id-token: write}`',
      cause,
    })
  const answer = await exchangeWhole(
    { url, method: 'GET', headers },
    await agentFor(url, proxyFor(url, env)),
    limits,
    signal,
  ).catch(error => {
    signal.throwIfAborted()
    throw refuse(error.message, error)
  })
  if (answer.status !== 200) throw refuse(`status ${answer.status}`)
  try {
    const { value } = JSON.parse(answer.body.toString()) as { readonly value?: unknown }
    if (typeof value === 'string') return value
  } catch {
    // Reported below.
  }
  throw refuse('its answer has none')
}
