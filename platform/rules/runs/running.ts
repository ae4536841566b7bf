import type { PreviewStatus } from '../previews/previews.ts'

interface ShownEnvironment {
  readonly name: string
  readonly state: string
  readonly ready: number
  readonly endpoints: readonly string[]
  readonly problem?: ServiceReason
  readonly deployed?: Deployed
}

/** A service that does not work, and why. */
interface ServiceReason {
  readonly service: string
  readonly reason: string
}

interface Deployed {
  /** RFC 3339. */
  readonly at: string
}

interface DeployRun {
  /** The id of the run. */
  readonly run: string
  readonly environment: string
}

/** Known content of a namespace. */
export interface NamespaceContent<E extends ShownEnvironment, F extends DeployRun> {
  readonly environments: readonly E[]
  /** The deploys that failed, and that nothing has followed: one for each environment, newest first. */
  readonly failedDeploys?: readonly F[]
  /** The deploys that are waiting or at work. */
  readonly deploys?: readonly DeployRun[]
}

/**
 * State of the content of a namespace: `deploying`, `failed`, `waiting`, `asleep`, `stopped`, `empty` or `ready`.
 * `failed`: a service does not work, or the last deploy has failed.
 */
export type RunningState = keyof typeof STATE_WORDS

/** Words for the state of an environment, and of all environments of a namespace. */
export const STATE_WORDS = {
  ready: 'Ready',
  waiting: 'Starting',
  failed: 'Problem',
  deploying: 'Deploying',
  asleep: 'Asleep',
  stopped: 'Stopped',
  empty: 'Nothing running',
} as const

/** The content of a namespace in short. */
export interface Running<E extends ShownEnvironment, F extends DeployRun> {
  /** Combined state of all environments: problems take precedence. */
  readonly state: RunningState
  /** The state in words: `3 services ready`. */
  readonly word: string
  /** The first problem. */
  readonly problem?: ServiceReason
  /** The last deploy, and its environment. */
  readonly deployed?: { readonly environment: string; readonly deploy: NonNullable<E['deployed']> }
  /** The last deploy by a run that has failed, and that nothing has followed. */
  readonly failedDeploy?: F
  /** The version from before that deploy is still ready. */
  readonly isPreviousRunning?: true
  /** Public URLs. */
  readonly endpoints: readonly string[]
}

/**
 * Sums up the environments of a namespace and its deploys. All that shows how a namespace or a preview is takes the
 * state and the words from here: pages, and commands.
 */
export function runningOf<E extends ShownEnvironment, F extends DeployRun>({
  environments,
  failedDeploys = [],
  deploys = [],
}: NamespaceContent<E, F>): Running<E, F> {
  const isDeploying = (name: string) => deploys.some(({ environment }) => environment === name)
  const broken = environments.filter(({ name, state }) => state === 'failed' && !isDeploying(name))
  const problem = broken.find(one => one.problem)?.problem
  const [last] = environments
    .flatMap(({ name, deployed }) =>
      deployed ? [{ environment: name, deploy: deployed as NonNullable<E['deployed']> }] : [],
    )
    .sort((a, b) => Date.parse(b.deploy.at) - Date.parse(a.deploy.at))
  const [failedDeploy] = failedDeploys
  const more = {
    ...(problem && { problem }),
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

/** True if all that an earlier deploy has started is still ready. */
export const stillRuns = (
  { environment }: { readonly environment: string },
  environments: readonly { readonly name: string; readonly state: string }[],
): boolean => environments.some(({ name, state }) => name === environment && state === 'ready')

/** Words for the status of a namespace or a preview. */
export const STATUS_WORDS = {
  // Awake, which says nothing of its content.
  Active: 'Active',
  Deploying: 'Deploying',
  Failed: 'Deploy failed',
  Sleeping: 'Asleep',
  Waking: 'Waking',
  Deleting: 'Deleting',
  DeleteFailed: 'Delete failed',
} as const satisfies Readonly<Record<PreviewStatus, string>>

const AWAKE: ReadonlySet<string> = new Set<PreviewStatus>(['Active', 'Deploying', 'Failed'])

/** True for the status of a namespace or a preview that is awake: its content says more. */
export const isAwake = (status: string): boolean => AWAKE.has(status)

/**
 * Returns the state of a namespace or a preview: by its content if it is awake and the content is known, otherwise by
 * its status.
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
 * precedence over ready services of the previous deploy.
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
