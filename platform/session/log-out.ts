import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Surroundings } from '../../project/contexts/home.ts'
import type { Secret } from '../../project/contexts/secret.ts'
import { PlatformRefusal } from '../client/client.ts'
import { connectPlatform } from './connect-platform.ts'

/** Ends a login at its platform; ignores a login that has already ended. Throws a UserError. */
export async function logOutOf(
  { env }: Pick<Surroundings, 'env'>,
  url: string,
  token: Secret,
  signal: AbortSignal,
): Promise<void> {
  try {
    await connectPlatform(url, token, env).call('POST /auth/logout', {}, signal)
  } catch (error) {
    const isOver = error instanceof UserError && error.cause instanceof PlatformRefusal && error.cause.status === 401
    if (!isOver) throw error
  }
}
