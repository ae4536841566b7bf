import { hasEnded, type RunAction, type RunState } from './run-states.ts'

/** The properties of a run that the deletion of its namespace depends on. */
export interface RunBefore {
  /** Sorts by age. */
  readonly id: string
  readonly environment: string
  readonly action: RunAction
  readonly state: RunState
  readonly repository?: string
  readonly found: { readonly commit?: string }
  /** The run is completed: its log is saved. */
  readonly isSettled: boolean
  /** The id of the deletion that it is part of. */
  readonly deletion?: string
}

/** The next step. */
export interface DeletionStep<R> {
  /** No run starts in a namespace that is being deleted. */
  readonly cancel: readonly R[]
  /** Deploys that have to be destroyed with their own manifests, because these contain commands. */
  readonly destroy: readonly R[]
  /** The namespace can be deleted; or why it cannot; or it is not known yet. */
  readonly outcome: 'gone' | 'wait' | { readonly failed: R }
}

/**
 * The next step of the deletion of a namespace, based on its runs. Each environment that a run has deployed is
 * destroyed by a run at the deployed commit. Environments that were already destroyed, or never cloned, need nothing.
 * Deciding twice has the same result.
 */
export function decideDeletion<R extends RunBefore>(runs: readonly R[], deletion: string): DeletionStep<R> {
  const all = [...runs].sort((a, b) => (a.id < b.id ? 1 : -1))
  const own = all.filter(run => run.deletion === deletion)
  const others = all.filter(run => run.deletion !== deletion)
  const live = others.filter(({ state }) => !hasEnded(state))
  if (live.length > 0) return { cancel: live.filter(({ state }) => state !== 'stopping'), destroy: [], outcome: 'wait' }
  const begun = new Set(own.map(({ environment }) => environment))
  const destroy = deployed(others).filter(({ environment }) => !begun.has(environment))
  if (destroy.length > 0) return { cancel: [], destroy, outcome: 'wait' }
  if (own.some(({ isSettled }) => !isSettled)) return { cancel: [], destroy: [], outcome: 'wait' }
  // The user who deployed it has lost the right: their commands are not run for others.
  const failed = own.find(({ state }) => state !== 'succeeded' && state !== 'refused')
  return { cancel: [], destroy: [], outcome: failed ? { failed } : 'gone' }
}

/** The last deploy of each environment that still exists; the newest first. */
function deployed<R extends RunBefore>(newestFirst: readonly R[]): readonly R[] {
  const found = new Map<string, R | undefined>()
  for (const run of newestFirst) {
    if (found.has(run.environment)) continue
    if (run.action === 'destroy' && run.state === 'succeeded') found.set(run.environment, undefined)
    if (run.action === 'deploy' && run.repository !== undefined && run.found.commit !== undefined)
      found.set(run.environment, run)
  }
  return [...found.values()].flatMap(run => run ?? [])
}
