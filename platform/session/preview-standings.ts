import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { RunningNamespace } from '../api/environments.ts'
import type { Preview } from '../api/previews.ts'
import { PlatformRefusal } from '../client/client.ts'
import { ASKED_TOGETHER } from '../rules/asked-together.ts'
import { isAwake, runningOf, standingOf } from '../rules/runs/running.ts'
import type { Platform } from './connect-platform.ts'

/** State of a preview, as shown to users. */
export interface PreviewStanding {
  /**
   * State of the preview: `ready`, `waiting`, `failed`, `deploying`, `stopped` or `empty`. Absent if the content of the
   * preview is unknown.
   */
  readonly state?: string
  /** State as text, such as `2 services ready`, `Asleep` or `Problem in shop: web: the image cannot be pulled`. */
  readonly text: string
}

/**
 * Maps the name of each preview to its state, as the pages of the platform show it. A caller that may not read the
 * content of the previews, such as a job that may only deploy, gets only the status of each preview as text.
 */
export async function standingsOf(
  platform: Platform,
  previews: readonly Preview[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, PreviewStanding>> {
  const asked = previews.filter(({ role, status }) => role !== undefined && isAwake(status)).map(({ name }) => name)
  const contents = new Map<string, RunningNamespace>()
  for (let start = 0; start < asked.length; start += ASKED_TOGETHER) {
    const items = await contentsOf(platform, asked.slice(start, start + ASKED_TOGETHER), signal)
    if (!items) break
    for (const one of items) contents.set(one.namespace, one)
  }
  return new Map(previews.map(({ name, status }) => [name, standing(status, contents.get(name))]))
}

/** Fetches the content of previews. Returns undefined if the caller may not read it. */
async function contentsOf(
  platform: Platform,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly RunningNamespace[] | undefined> {
  try {
    return (await platform.call('GET /environments', { query: { namespaces: names.join(',') } }, signal)).items
  } catch (error) {
    const { cause } = error instanceof UserError ? error : {}
    if (cause instanceof PlatformRefusal && cause.status === 403) return undefined
    throw error
  }
}

function standing(status: string, content: RunningNamespace | undefined): PreviewStanding {
  const running = content && runningOf(content)
  const { word } = standingOf(status, running)
  if (!running) return { text: word }
  const { state, problem, waits, failedDeploy, isPreviousRunning } = running
  const told = problem ?? (failedDeploy ? undefined : waits)
  const why = told
    ? `: ${told.service}: ${told.reason}`
    : failedDeploy && isPreviousRunning
      ? ', previous version runs'
      : ''
  return { state, text: `${word}${why}` }
}
