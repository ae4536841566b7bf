import { tellsStatus } from './previews.ts'
import type { RunAction, RunState } from './run-states.ts'

interface DeployRun {
  readonly environment: string
  readonly action: RunAction
  readonly state: RunState
  /** RFC 3339. */
  readonly ended?: string
}

/**
 * The last failed deploy of a namespace that nothing has followed: no run of the same environment, and no deploy from
 * elsewhere. The runs are given newest first; `deployed` has the times (RFC 3339) of the environments' last deploys.
 */
export function failedDeploy<R extends DeployRun>(
  runs: readonly R[],
  deployed: ReadonlyMap<string, string>,
): R | undefined {
  const seen = new Set<string>()
  return runs.filter(tellsStatus).find(({ environment, state, ended = '' }) => {
    if (seen.has(environment)) return false
    seen.add(environment)
    // A deploy that fails while it waits has noted itself before its end.
    const isFollowed = Date.parse(deployed.get(environment) ?? '') > Date.parse(ended)
    return (state === 'failed' || state === 'refused') && !isFollowed
  })
}
