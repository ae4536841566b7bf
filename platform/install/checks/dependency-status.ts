import { pause } from '../../../adapters/http/back-off.ts'
import { checksRef, toChecks } from '../../records/dependency-checks.ts'
import { CI_KINDS, type CiTrust } from '../../rules/accounts/ci-trust.ts'
import type { ProviderSettings } from '../../rules/accounts/provider.ts'
import { type DependencyState, dependenciesOf, dependencyProblems, dependencyStates } from '../../rules/dependencies.ts'
import { isForgeServer } from '../../rules/forge-servers.ts'
import type { PlatformProblem } from '../../session/platform-problem.ts'
import { type InstallContext, LOOK } from '../install-context.ts'
import { type Installation, settingsHash } from '../manifests/server.ts'

/**
 * Settings that name other servers. `providers` contains the login providers, and `kept` contains the settings that an
 * administrator has written.
 */
export interface NamedServers {
  readonly providers?: readonly ProviderSettings[]
  readonly kept?: Readonly<Record<string, unknown>>
}

/** Time for a new server to become the leader and check the other servers, in milliseconds. */
const PATIENCE = 40_000

/** Returns the states of the servers that the platform needs, as the platform's server has last reported them. */
export async function dependencyStatus(
  { cluster, signal, now }: InstallContext,
  named: NamedServers,
): Promise<readonly DependencyState[]> {
  return dependencyStates(wantedOf(named), toChecks(await cluster.get(checksRef, { signal })), now())
}

/** Returns the problems of the servers that the platform needs, with the time of the last check. */
export const statusProblems = (all: readonly DependencyState[]): readonly PlatformProblem[] => {
  const checked = all.find(one => one.failure)?.checked
  return dependencyProblems(all).map(one => ({ ...one, notes: checked ? [`checked by the server at ${checked}`] : [] }))
}

/**
 * Waits until the server that was just installed has checked the other servers that it needs. Returns the states of
 * these servers. A state is `unknown` if its check did not end in time; the list is empty if the installation has no
 * replicas.
 */
export async function checkedDependencies(
  world: InstallContext,
  one: Installation,
  patience = PATIENCE,
): Promise<readonly DependencyState[]> {
  const wanted = wantedOf(one)
  if (wanted.length === 0 || one.replicas === 0) return []
  const hash = settingsHash(one)
  for (const end = performance.now() + patience; ; ) {
    const checks = toChecks(await world.cluster.get(checksRef, { signal: world.signal }))
    // Checks with other settings are ignored: before the upgrade, the server trusted other authorities and knew other
    // addresses.
    const states = dependencyStates(wanted, checks?.settings === hash ? checks : undefined, world.now())
    if (states.every(({ state }) => state !== 'unknown') || performance.now() > end) return states
    await pause(LOOK, world.signal)
  }
}

function wantedOf({ providers = [], kept = {} }: NamedServers): ReturnType<typeof dependenciesOf> {
  const { ci, forges } = kept
  return dependenciesOf({
    providers,
    ci: Array.isArray(ci) ? ci.filter(isCi) : [],
    forges: Array.isArray(forges) ? forges.filter(isForgeServer) : [],
  })
}

/** True if a rule is complete enough for a check of its issuer. Invalid rules are reported by the server itself. */
const isCi = (one: Partial<CiTrust> | null): one is CiTrust =>
  CI_KINDS.some(kind => kind === one?.kind) && URL.canParse(one?.issuer ?? '')
