import type { RouteName } from '../api/routes.ts'
import { addressKey, Limiter } from '../rules/limiter.ts'
import { PlatformError } from './platform-error.ts'

/** How often somebody may try to log in. Each replica counts by itself. */
export interface LoginLimits {
  /** Throws a PlatformError when too many came from an address. */
  address(what: RouteName | '/login', address: string): void
  /** Throws a PlatformError when an account has guessed too often at what others have to know. */
  account(route: RouteName, user: string): void
}

/**
 * By address many: behind an ingress whose addresses the settings do not name, all people have the same one.
 * By account few: a code that is typed is short.
 */
const ADDRESS = { burst: 200, every: 100, keys: 10_000 }
const ACCOUNT = { burst: 20, every: 30_000, keys: 10_000 }

const GUESSED: ReadonlySet<string> = new Set<RouteName>(['POST /auth/device/look', 'POST /auth/device/answer'])

export function loginLimits(): LoginLimits {
  // It never goes back, as the time of day may.
  const now = () => performance.now()
  const [addresses, accounts] = [new Limiter(ADDRESS), new Limiter(ACCOUNT)]
  return {
    address(what, address) {
      if (what === '/login' || what.includes(' /auth/')) refuseFor(addresses.take(addressKey(address), now()))
    },
    account(route, user) {
      if (GUESSED.has(route)) refuseFor(accounts.take(user, now()))
    },
  }
}

function refuseFor(wait: number): void {
  if (wait === 0) return
  const seconds = Math.ceil(wait / 1000)
  throw new PlatformError(429, 'too-many', 'too many attempts to log in', { hint: `try again in ${seconds} s` })
}
