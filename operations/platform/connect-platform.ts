import { agentFor } from '../../adapters/http/agents.ts'
import { exchange, readText } from '../../adapters/http/exchange.ts'
import { proxyFor } from '../../adapters/http/proxy.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { ReplyOf, RouteName } from '../../platform/api/routes.ts'
import {
  type CallInput,
  NoPlatform,
  PlatformClient,
  PlatformRefusal,
  type PlatformRequest,
} from '../../platform/client/client.ts'
import type { Secret } from '../contexts/secret.ts'

/** Milliseconds. */
const LIMITS = { connect: 10_000, answer: 30_000, whole: 40_000 }

type Env = Readonly<Record<string, string | undefined>>

/** A platform, as commands use it: what it refuses is a UserError in its words. */
export interface Platform {
  readonly url: string
  call<N extends RouteName>(name: N, input: CallInput<N>, signal?: AbortSignal): Promise<ReplyOf<N>>
}

/** The platform at a URL. Sends nothing yet. */
export function connectPlatform(url: string, token: Secret | undefined, env: Env): Platform {
  const server = new URL(url)
  let agent: ReturnType<typeof agentFor> | undefined
  const send = async ({ method, path, token, body, signal }: PlatformRequest) => {
    agent ??= agentFor(server, proxyFor(server, env))
    const headers = {
      accept: 'application/json',
      'user-agent': 'devctl',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const response = await exchange(server, { method, path, headers, body }, await agent, LIMITS, signal)
    return { status: response.statusCode ?? 0, text: await readText(response, LIMITS.answer) }
  }
  const client = new PlatformClient(send, token?.reveal())
  return {
    url,
    async call(name, input, signal) {
      try {
        return await client.call(name, input, signal)
      } catch (error) {
        signal?.throwIfAborted()
        throw toUserError(error, server)
      }
    },
  }
}

function toUserError(error: unknown, server: URL): unknown {
  if (error instanceof PlatformRefusal) {
    const { message, hint, notes } = error.body
    return new UserError(message, {
      notes: [...(notes ?? []), `said by the platform ${server.host}`],
      ...(hint !== undefined && { hint }),
      cause: error,
    })
  }
  if (error instanceof NoPlatform)
    return new UserError(`\`${server.origin}\` is no platform of devctl: ${error.message}`, {
      hint: 'look at the address; behind a proxy, its login page may have answered',
      cause: error,
    })
  return new UserError(`the platform \`${server.origin}\` does not answer: ${(error as Error).message}`, {
    hint: 'is the address right, and can it be reached from here?',
    cause: error,
  })
}
