import { hasEnded, type RunAction, type RunState } from './run-states.ts'

/** The properties of a run that matter for the deletion of its namespace. */
export interface RunBefore {
  /** Id of the run; ids sort by age. */
  readonly id: string
  readonly environment: string
  readonly action: RunAction
  readonly state: RunState
  readonly repository?: string
  readonly found: { readonly commit?: string }
  /** True if the run is completed, which includes that its log is saved. */
  readonly isSettled: boolean
  /** Id of the deletion that the run is part of; absent for other runs. */
  readonly deletion?: string
}

/** The next step of the deletion of a namespace. */
export interface DeletionStep<R> {
  /** Runs to cancel, because no run may start in a namespace that is being deleted. */
  readonly cancel: readonly R[]
  /** Deploys that have to be destroyed with their own manifests, because the manifests contain commands to run. */
  readonly destroy: readonly R[]
  /**
   * `gone`: the namespace can be deleted; `wait`: the outcome is not known yet; `failed`: the run whose failure keeps
   * the namespace from being deleted.
   */
  readonly outcome: 'gone' | 'wait' | { readonly failed: R }
}

/**
 * Returns the next step of the deletion of a namespace, based on its runs. Each environment that was deployed by a run
 * is destroyed by another run, with the manifest at the deployed commit. An environment needs no such run if it was
 * already destroyed, or if none of its deploys has cloned a commit. A repeated call returns the same step.
 */
export function decideDeletion<R extends RunBefore>(runs: readonly R[], deletion: string): DeletionStep<R> {
  const all = [...runs].sort((a, b) => (a.id < b.id ? 1 : -1))
  const own = all.filter(run => run.deletion === deletion)
  const others = all.filter(run => run.deletion !== deletion)
  const live = others.filter(({ state }) => !hasEnded(state))
  if (live.length > 0) return { cancel: live.filter(({ state }) => state !== 'stopping'), destroy: [], outcome: 'wait' }
  const begun = new Set(own.map(({ environment }) => environment))
  const destroy = lastDeploys(others, environmentOf, isCloned).filter(({ environment }) => !begun.has(environment))
  if (destroy.length > 0) return { cancel: [], destroy, outcome: 'wait' }
  if (own.some(({ isSettled }) => !isSettled)) return { cancel: [], destroy: [], outcome: 'wait' }
  // A refused run does not count as failed: the user who deployed the environment has lost the permission, and their
  // commands are not run on behalf of another user.
  const failed = own.find(({ state }) => state !== 'succeeded' && state !== 'refused')
  return { cancel: [], destroy: [], outcome: failed ? { failed } : 'gone' }
}

const environmentOf = ({ environment }: RunBefore): string => environment
const isCloned = ({ repository, found }: RunBefore): boolean => repository !== undefined && found.commit !== undefined

/**
 * Returns the last deploy of each environment, newest first, except for environments that were destroyed afterwards.
 * `keyOf` returns the environment of a run. Deploys for which `isCloned` is false have created nothing and are skipped.
 */
export function lastDeploys<R extends Pick<RunBefore, 'action' | 'state'>>(
  newestFirst: readonly R[],
  keyOf: (run: R) => string,
  isCloned: (run: R) => boolean,
): readonly R[] {
  const found = new Map<string, R | undefined>()
  for (const run of newestFirst) {
    const key = keyOf(run)
    if (found.has(key)) continue
    if (run.action === 'destroy' && run.state === 'succeeded') found.set(key, undefined)
    if (run.action === 'deploy' && isCloned(run)) found.set(key, run)
  }
  return [...found.values()].flatMap(run => run ?? [])
}
