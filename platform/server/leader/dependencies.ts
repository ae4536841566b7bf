import { checksRef, fromChecks, toChecks } from '../../records/dependency-checks.ts'
import { MANAGER, rfc3339 } from '../../records/names.ts'
import {
  type CheckedDependency,
  type DependencyState,
  dependenciesOf,
  dependencyStates,
  type ForgeDependency,
} from '../../rules/dependencies.ts'
import type { ServerContext } from '../context.ts'
import type { Hooks } from '../hooks/hooks.ts'
import { reachFailure } from '../http/reach.ts'
import type { LeaderTask } from './leader.ts'

/** Check intervals in milliseconds: while one of the servers cannot be used, and while all of them can be used. */
const SOON = 60_000
const LATER = 300_000

/**
 * Returns the task that checks the other servers that the platform needs: identity providers, CI systems, and the
 * forges of the settings and of webhooks. The results are stored in a record, which all replicas and cluster
 * administrators read.
 */
export const dependenciesTask = (world: ServerContext, hooks: Hooks): LeaderTask => {
  const { cluster, settings, settingsHash, now } = world
  let next = Number.NEGATIVE_INFINITY
  return {
    name: 'checks of other servers',
    everyMs: SOON,
    async run(signal) {
      if (now() < next) return
      const wanted = dependenciesOf({ ...settings, forges: [...settings.forges, ...(await hooks.servers(signal))] })
      const all = await Promise.all(
        wanted.map(async (one): Promise<CheckedDependency> => {
          const failure = await reachFailure(one, signal)
          return failure ? { ...one, failure } : one
        }),
      )
      const checks = { checked: rfc3339(now()), ...(settingsHash !== undefined && { settings: settingsHash }), all }
      if (all.length > 0) await cluster.apply(fromChecks(checks), { manager: MANAGER, force: true, signal })
      else await cluster.delete(checksRef, { signal })
      if (all.every(({ failure }) => !failure)) next = now() + LATER - SOON / 2
    },
  }
}

/** Returns the states of the servers that the platform needs, according to the leader's last check. */
export async function readDependencies({ cluster, settings, now }: ServerContext): Promise<readonly DependencyState[]> {
  const forges: readonly ForgeDependency[] = settings.forges
  return dependencyStates(dependenciesOf({ ...settings, forges }), toChecks(await cluster.get(checksRef)), now())
}
