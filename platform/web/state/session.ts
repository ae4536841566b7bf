import { computed, type ReadonlySignal, signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Info } from '../../api/info.ts'
import type { Me } from '../../api/me.ts'
import { platform } from './client.ts'
import { type Failure, toProblem, withHint } from './problem.ts'

/** User who is logged in; `undefined` if not known yet, `null` if nobody is logged in. */
export const me = signal<Me | null | undefined>(undefined)
/** Information that the platform reports about itself. */
export const info = signal<Info | undefined>(undefined)
/** True if the platform does not answer. The data on the page may be old, and requests are retried. */
export const isOffline = signal(false)
/** True if the session ended while a page was open. */
export const isExpired = signal(false)

export const isAdmin = computed(() => me.value?.role === 'admin')
/** Host of this platform, which is its name in commands. */
export const platformHost = computed(() => location.host)

/** Loads the logged-in user and the information about the platform. Returns the problem if a request failed. */
export async function loadSession(): Promise<Failure | undefined> {
  try {
    const [who, about] = await Promise.all([whoAmI(), info.value ?? platform.call('GET /info', {})])
    info.value = about
    me.value = who
    isExpired.value = false
    isOffline.value = false
    return undefined
  } catch (error) {
    return toProblem(error)
  }
}

/** Delay before another request to a platform that does not answer, in milliseconds. */
const AGAIN = 3_000

/** Progress of `useSession`. */
export interface SessionLoad {
  /** Reason why the session is not loaded. */
  readonly problem: ReadonlySignal<Failure | undefined>
  /** Loads the session again. */
  retry(): void
}

/**
 * Loads the session when a page opens, and repeats this while the platform does not answer. Calls `onLoaded` once the
 * session is loaded.
 */
export function useSession(onLoaded = () => {}, isWanted = true): SessionLoad {
  const problem = useSignal<Failure | undefined>(undefined)
  const retry = useRef(() => {})
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const load = async () => {
      clearTimeout(timer)
      const found = await loadSession()
      if (isGone) return
      clearTimeout(timer)
      problem.value = found && withHint(found, 'Retrying automatically.')
      if (found?.kind === 'offline') timer = setTimeout(load, AGAIN)
      if (!found) onLoaded()
    }
    retry.current = () => void load()
    if (isWanted) void load()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [])
  return { problem, retry: () => retry.current() }
}

async function whoAmI(): Promise<Me | null> {
  try {
    return await platform.call('GET /me', {})
  } catch (error) {
    if (toProblem(error).kind === 'login') return null
    throw error
  }
}

/**
 * Resumes a page whose session has ended if the same user has logged in again in another tab. For another user, reloads
 * the page, so that no data of the first user remains. Returns true if the page was resumed.
 */
export async function resumeSession(): Promise<boolean> {
  const who = await whoAmI().catch(() => null)
  if (!who) return false
  if (who.id !== me.value?.id) {
    location.reload()
    return false
  }
  isExpired.value = false
  return true
}

/** Ends the session in this browser and on the platform. */
export async function logout(): Promise<void> {
  await platform.call('POST /auth/logout', {}).catch(() => {})
  // Loading a new page also discards all data that the pages have read.
  location.assign('/login')
}

/** Updates the session and connection state after a failed call. */
export function noticeOf(problem: Failure): void {
  if (problem.kind === 'offline') isOffline.value = true
  if (problem.kind === 'login' && me.value) isExpired.value = true
}
