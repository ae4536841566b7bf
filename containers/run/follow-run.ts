import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { startStatus } from '../../adapters/kubernetes/start-status.ts'
import { LONGEST_TIMER } from '../../adapters/process/time-limit.ts'
import { ProgramError, UserError } from '../../compiler/diagnostics/user-error.ts'
import { listWarnings } from '../../environment/status/events.ts'
import { SHORT } from '../../environment/status/failures.ts'
import { type Problem, podProblems } from '../../environment/status/problems.ts'
import { addCapacityEvents } from '../../environment/status/unschedulable.ts'

/** A run that has been created. */
export interface StartedRun {
  readonly cluster: Cluster
  readonly namespace: string
  readonly job: string
  readonly container: string
  /** Time within which the container has to start, in milliseconds. */
  readonly startTimeout: number
  readonly now: () => number
}

/** State of a run while its streams are connected. */
export interface RunningContainer {
  readonly pod: string
  readonly signal: AbortSignal
  /** Aborted when the container has ended. */
  readonly over: AbortSignal
}

/**
 * Connects the streams of a running container. Resolves when all its output is printed. If it rejects with an
 * `InputError`, `followRun` stops and throws the cause of that error; it throws any other error only when the container
 * has ended.
 */
export type Connect = (container: RunningContainer) => Promise<void>

/** Thrown if the connection that carries the input is lost, because the program might then wait for input forever. */
export class InputError extends Error {}

interface State {
  readonly running?: unknown
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string }
}
interface Status {
  readonly phase?: string
  readonly containerStatuses?: readonly { readonly name: string; readonly state?: State }[]
  readonly initContainerStatuses?: readonly { readonly name: string; readonly state?: State }[]
}

/**
 * Connects to a run when its container runs, and returns the exit status of the container. Throws a UserError if the
 * Pod of the run cannot start. Also throws the errors of the connection, and the signal's abort reason.
 */
export async function followRun(run: StartedRun, connect: Connect, signal: AbortSignal): Promise<number> {
  const over = new AbortController()
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(notStarted(run, problems)), Math.min(run.startTimeout, LONGEST_TIMER))
  const own = AbortSignal.any([signal, late.signal])
  let problems: readonly Problem[] = []
  let output: Promise<void> | undefined
  try {
    for await (const pod of watchPod(run, own)) {
      const status = (pod['status'] ?? {}) as Status // a Pod's
      const state = status.containerStatuses?.find(({ name }) => name === run.container)?.state
      if (!state?.running && !state?.terminated) {
        refuseWaiting(run.job, state?.waiting)
        problems = await problemsOf(run, pod, own)
        refuseProblem(run, problems, status)
      } else {
        clearTimeout(timer)
        output ??= connect({ pod: pod.metadata.name, signal, over: over.signal })
        output.catch(error => {
          if (error instanceof InputError) late.abort(error.cause)
        })
        if (state.terminated) {
          refuseStartError(run.job, state.terminated)
          over.abort()
          await output.catch(error => {
            throw error instanceof InputError ? error.cause : error
          })
          return state.terminated.exitCode
        }
      }
    }
    throw own.reason
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/** Yields the Pod of a run at each of its changes. Throws a UserError when it is deleted. */
async function* watchPod({ cluster, namespace, job }: StartedRun, signal: AbortSignal): AsyncGenerator<KubeObject> {
  const query = { apiVersion: 'v1', kind: 'Pod', namespace, labels: `job-name=${job}` }
  let wasSeen = false
  let isThere = false
  for await (const change of cluster.watch(query, { signal })) {
    isThere = change.type === 'Changed' || (change.type === 'Listed' && isThere)
    // A watch that starts over does not report what was deleted in between.
    if (wasSeen && !isThere && change.type !== 'Restarted') throw new UserError(`the Pod of \`${job}\` was deleted`)
    if (change.type !== 'Changed') continue
    wasSeen = true
    yield change.object
  }
}

/** Throws a ProgramError or a UserError if the program of the container could not be started. */
function refuseStartError(job: string, { reason, message = '' }: NonNullable<State['terminated']>): void {
  if (!NOT_STARTED.has(reason)) return
  refuseProgram(job, message)
  throw new UserError(`\`${job}\` cannot start: its program cannot be executed`, { notes: lines(message) })
}

/** Throws a ProgramError for a container that the runtime cannot create or start because of its program. */
function refuseWaiting(job: string, { reason, message = '' }: NonNullable<State['waiting']> = {}): void {
  // Other reasons for these errors, such as a mount, are often passing.
  if (NOT_CREATED.has(reason) && /\bexec/i.test(message)) refuseProgram(job, message)
}

/** Reasons of the kubelet for a container whose program could not be started. */
const NOT_STARTED = new Set<unknown>(['StartError', 'ContainerCannotRun', 'RunContainerError'])
/**
 * Waiting reasons of a container that could not be created or started, perhaps because of its program. CRI-O looks for
 * the program before it creates the container.
 */
const NOT_CREATED = new Set<unknown>(['RunContainerError', 'CreateContainerError'])

function refuseProgram(job: string, message: string): void {
  const status = startStatus(message)
  if (status === undefined) return
  const fault = status === 127 ? 'its program does not exist' : 'its program is not executable'
  throw new ProgramError(status, `\`${job}\` cannot start: ${fault}`, { notes: lines(message) })
}

/**
 * Returns the problems of a Pod that has not started. Reads the events of the Pod, because only they show which
 * problems are temporary.
 */
async function problemsOf(
  { cluster, namespace, now }: StartedRun,
  pod: KubeObject,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const warnings = await listWarnings(cluster, namespace, { signal })
  await addCapacityEvents(cluster, namespace, { pods: [pod], warnings }, { signal })
  return podProblems(pod, warnings.about(pod), now())
}

/** Throws a UserError for a Pod that will not start. */
function refuseProblem(
  { job }: StartedRun,
  problems: readonly Problem[],
  { phase, initContainerStatuses = [] }: Status,
): void {
  const problem = problems.find(one => !one.isPassing)
  if (problem) throw new UserError(`\`${job}\` cannot start: ${SHORT[problem.code]}`, { notes: lines(problem.detail) })
  if (phase !== 'Failed') return
  const failed = initContainerStatuses.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  const what = failed
    ? `\`${failed.name}\` failed with exit status ${failed.state?.terminated?.exitCode}`
    : 'its Pod failed'
  throw new UserError(`\`${job}\` cannot start: ${what}`)
}

function notStarted({ job }: StartedRun, [problem]: readonly Problem[]): UserError {
  const notes = problem ? [SHORT[problem.code], ...lines(problem.detail)] : []
  const hint = 'wait longer with `--timeout`; `--no-deps` does not wait for dependencies'
  return new UserError(`\`${job}\` has not started in time`, { notes, hint })
}

const lines = (text: string): readonly string[] => text.split('\n').filter(line => line.trim() !== '')
