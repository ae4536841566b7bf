import type { Builder } from '../../adapters/buildkit/builder.ts'
import { connectOver } from '../../adapters/buildkit/connect.ts'
import { readKeepalive } from '../../adapters/buildkit/keepalive.ts'
import { warningOf } from '../../adapters/buildkit/status.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Secret } from '../../project/contexts/secret.ts'
import { PlatformRefusal } from '../client/client.ts'
import { connectPlatform } from './connect-platform.ts'

/** Build service of a platform, for a namespace. */
export interface PlatformBuilders {
  readonly url: string
  readonly token: Secret
  readonly namespace: string
}

/** Answer of a platform that has no builders, or none for code of forks. */
export interface NoBuilders {
  readonly message: string
  readonly hint?: string
}

/**
 * Connects to the builders of a platform over one connection. If the platform has no builders for the namespace,
 * returns the platform's answer instead. Throws a UserError.
 */
export async function openPlatformBuilder(
  { url, token, namespace }: PlatformBuilders,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<{ readonly builder: Builder } | { readonly none: NoBuilders }> {
  const platform = connectPlatform(url, token, env)
  const ended = new AbortController()
  const open = () =>
    platform.connect('GET /builders/connect', { query: { namespace } }, AbortSignal.any([signal, ended.signal]))
  try {
    const name = `the platform ${new URL(url).host}`
    const builder = await connectOver({ name, open, isFinal }, { signal, keepalive: readKeepalive(env) })
    const own: Builder = {
      ...builder,
      build(input, call) {
        if (input.cacheFrom.length > 0) call.onStatus({ warnings: [warningOf(NO_CACHES)] })
        return builder.build({ ...input, cacheFrom: [] }, call)
      },
      close() {
        builder.close()
        ended.abort()
      },
    }
    return { builder: own }
  } catch (error) {
    ended.abort()
    if (error instanceof UserError && error.cause instanceof PlatformRefusal) {
      if (error.cause.body.code === 'platform/no-builders') return { none: error.cause.body }
    }
    throw error
  }
}

/** True if the platform itself rejected the request, with a status below 500. */
const isFinal = (error: unknown): boolean =>
  error instanceof UserError && error.cause instanceof PlatformRefusal && error.cause.status < 500

/**
 * Warning that `cache_from` is ignored. A user whose cache is imported could otherwise store any content under the key
 * of a build step that all users share.
 */
const NO_CACHES = '`cache_from` is left out: the builders of the platform keep a cache of their own'
