import type { PreviewStatus } from '../previews/previews.ts'

interface ShownEnvironment {
  readonly name: string
  readonly state: string
  readonly ready: number
  readonly endpoints: readonly string[]
  readonly problem?: ServiceReason
  readonly waits?: ServiceReason
  readonly deployed?: Deployed
}

/** A service that is not ready, and the reason. */
interface ServiceReason {
  readonly service: string
  readonly reason: string
}

interface Deployed {
  /** Time of the deploy (RFC 3339). */
  readonly at: string
}

interface DeployRun {
  /** Id of the run. */
  readonly run: string
  readonly environment: string
}

/** Content of a namespace: its environments and, if they were read, its failed and active deploys by runs. */
export interface NamespaceContent<E extends ShownEnvironment, F extends DeployRun> {
  readonly environments: readonly E[]
  /** Failed deploys that no later deploy has superseded: one for each environment, newest first. */
  readonly failedDeploys?: readonly F[]
  /** Deploys that are waiting or running. */
  readonly deploys?: readonly DeployRun[]
}

/**
 * State of the content of a namespace: `deploying`, `failed`, `waiting`, `asleep`, `stopped`, `empty` or `ready`.
 * `failed`: a service does not work, or the last deploy has failed.
 */
export type RunningState = keyof typeof STATE_WORDS

/** Texts for the state of an environment, and for the combined state of all environments of a namespace. */
export const STATE_WORDS = {
  ready: 'Ready',
  waiting: 'Starting',
  failed: 'Problem',
  deploying: 'Deploying',
  asleep: 'Asleep',
  stopped: 'Stopped',
  empty: 'Nothing running',
} as const

/** Summary of a namespace's content. */
export interface Running<E extends ShownEnvironment, F extends DeployRun> {
  /** Combined state of all environments; problems take precedence. */
  readonly state: RunningState
  /** State in words, such as `3 services ready`. */
  readonly word: string
  /** The first service that has a problem, and the problem. */
  readonly problem?: ServiceReason
  /** The first service that waits, and the reason; absent if a service has a problem. */
  readonly waits?: ServiceReason
  /** Last deploy, with its environment. */
  readonly deployed?: { readonly environment: string; readonly deploy: NonNullable<E['deployed']> }
  /** Last failed deploy by a run, if no later deploy has superseded it. */
  readonly failedDeploy?: F
  /** True if the version that was running before `failedDeploy` is still ready. */
  readonly isPreviousRunning?: true
  /** Public URLs of all environments. */
  readonly endpoints: readonly string[]
}

/**
 * Summarizes the environments of a namespace and its deploys. All pages and commands that show the state of a namespace
 * or a preview take the state and its text from here.
 */
export function runningOf<E extends ShownEnvironment, F extends DeployRun>({
  environments,
  failedDeploys = [],
  deploys = [],
}: NamespaceContent<E, F>): Running<E, F> {
  const isDeploying = (name: string) => deploys.some(({ environment }) => environment === name)
  const broken = environments.filter(({ name, state }) => state === 'failed' && !isDeploying(name))
  const problem = broken.find(one => one.problem)?.problem
  const waits = problem ? undefined : environments.find(one => one.state === 'waiting' && one.waits)?.waits
  const [last] = environments
    .flatMap(({ name, deployed }) =>
      deployed ? [{ environment: name, deploy: deployed as NonNullable<E['deployed']> }] : [],
    )
    .sort((a, b) => Date.parse(b.deploy.at) - Date.parse(a.deploy.at))
  const [failedDeploy] = failedDeploys
  const more = {
    ...(problem && { problem }),
    ...(waits && { waits }),
    ...(last && { deployed: last }),
    ...(failedDeploy && { failedDeploy }),
    ...(failedDeploy && stillRuns(failedDeploy, environments) && { isPreviousRunning: true as const }),
    endpoints: environments.flatMap(one => one.endpoints),
  }
  if (broken.length > 0)
    return {
      state: 'failed',
      word: broken.length === 1 ? `Problem in ${broken[0]?.name}` : `${broken.length} problems`,
      ...more,
    }
  if (failedDeploy) return { state: 'failed', word: `Deploy of ${failedDeploy.environment} failed`, ...more }
  const [deploy] = deploys
  if (deploy) return { state: 'deploying', word: `Deploying ${deploy.environment}`, ...more }
  const ready = environments.reduce((sum, one) => sum + one.ready, 0)
  const has = (state: string) => environments.some(one => one.state === state)
  if (has('waiting')) return { state: 'waiting', word: STATE_WORDS.waiting, ...more }
  if (has('ready'))
    return { state: 'ready', word: ready === 1 ? '1 service ready' : `${ready} services ready`, ...more }
  const state = (['asleep', 'stopped'] as const).find(has) ?? 'empty'
  return { state, word: STATE_WORDS[state], ...more }
}

/**
 * True if the environment of a failed deploy is ready: everything that an earlier deploy has started in it is still
 * ready.
 */
export const stillRuns = (
  { environment }: { readonly environment: string },
  environments: readonly { readonly name: string; readonly state: string }[],
): boolean => environments.some(({ name, state }) => name === environment && state === 'ready')

/** Texts for the status of a namespace or a preview. */
export const STATUS_WORDS = {
  // Awake. Says nothing about its content.
  Active: 'Active',
  Deploying: 'Deploying',
  Failed: 'Deploy failed',
  Sleeping: 'Asleep',
  Waking: 'Waking',
  Deleting: 'Deleting',
  DeleteFailed: 'Delete failed',
} as const satisfies Readonly<Record<PreviewStatus, string>>

const AWAKE: ReadonlySet<string> = new Set<PreviewStatus>(['Active', 'Deploying', 'Failed'])

/**
 * True if a namespace or a preview with this status is awake. In this case, the state of its content says more than the
 * status.
 */
export const isAwake = (status: string): boolean => AWAKE.has(status)

/**
 * Returns the state of a namespace or a preview, and the text for this state. If the namespace is awake and its content
 * is known, the state comes from the content (`running`), otherwise from `status`.
 */
export function standingOf(
  status: string,
  running: { readonly state: RunningState; readonly word: string } | undefined,
): { readonly state: string; readonly word: string } {
  if (running && isAwake(status)) return { state: running.state, word: running.word }
  return { state: status, word: Object.hasOwn(STATUS_WORDS, status) ? STATUS_WORDS[status as PreviewStatus] : status }
}

/**
 * Returns the state of an environment, from the state of its services and its deploys. A running or failed deploy takes
 * precedence over services that have been ready since the previous deploy.
 */
export function environmentState(
  { name, state }: { readonly name: string; readonly state: string },
  {
    failedDeploys = [],
    deploys = [],
  }: Pick<NamespaceContent<ShownEnvironment, DeployRun>, 'failedDeploys' | 'deploys'>,
): { readonly state: string; readonly word: string } {
  const of = (all: readonly DeployRun[]) => all.some(({ environment }) => environment === name)
  const usual = { state, word: Object.hasOwn(STATE_WORDS, state) ? STATE_WORDS[state as RunningState] : state }
  if (of(deploys)) return { state: 'deploying', word: STATE_WORDS.deploying }
  if (state === 'failed' || !of(failedDeploys)) return usual
  return { state: 'failed', word: STATUS_WORDS.Failed }
}
