import { tellsStatus } from '../previews/previews.ts'
import { hasEnded, type RunAction, type RunState } from './run-states.ts'

interface DeployRun {
  readonly environment: string
  readonly action: RunAction
  readonly state: RunState
  /** Time at which the run ended (RFC 3339); absent if it has not ended. */
  readonly ended?: string
}

/**
 * Returns the latest run that deploys each environment: in `atWork` if the run has not ended; in `failed` if it failed
 * or was refused, and no later deploy of the environment is recorded. `deployed` contains the time (RFC 3339) of the
 * last recorded deploy of each environment; deploys without a run are recorded, too. `runs` and the results are sorted
 * newest first.
 */
export function openDeploys<R extends DeployRun>(
  runs: readonly R[],
  deployed: ReadonlyMap<string, string>,
): { readonly failed: readonly R[]; readonly atWork: readonly R[] } {
  const seen = new Set<string>()
  const last = runs.filter(tellsStatus).filter(({ environment }) => {
    const isLast = !seen.has(environment)
    seen.add(environment)
    return isLast
  })
  // A deploy that fails while it waits has recorded itself before it ended, so its own record is never later.
  const isFollowed = ({ environment, ended = '' }: R) => Date.parse(deployed.get(environment) ?? '') > Date.parse(ended)
  return {
    failed: last.filter(run => (run.state === 'failed' || run.state === 'refused') && !isFollowed(run)),
    atWork: last.filter(({ state }) => !hasEnded(state)),
  }
}
