import type { Cluster, KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { SHORT } from '../../environment/status/failures.ts'
import { podProblems } from '../../environment/status/problems.ts'

/** A run that has been created. */
export interface StartedRun {
  readonly cluster: Cluster
  readonly namespace: string
  readonly job: string
  readonly container: string
  /** Milliseconds until when the container has to have started. */
  readonly startTimeout: number
  readonly now: () => number
  /** Prints a line of the output; no further line is read until it resolves. */
  readonly print: (line: string) => Promise<void> | void
}

interface State {
  readonly running?: unknown
  readonly terminated?: { readonly exitCode: number; readonly reason?: string; readonly message?: string }
}
interface Status {
  readonly phase?: string
  readonly containerStatuses?: readonly { readonly name: string; readonly state?: State }[]
  readonly initContainerStatuses?: readonly { readonly name: string; readonly state?: State }[]
}

/**
 * Prints the output of a run and returns its exit status. Throws a UserError if its Pod cannot start, and the signal's
 * abort reason.
 */
export async function followRun(run: StartedRun, signal: AbortSignal): Promise<number> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(notStarted(run, last)), run.startTimeout)
  const own = AbortSignal.any([signal, late.signal])
  let last: KubeObject | undefined
  let output: Promise<void> | undefined
  try {
    const { cluster, namespace } = run
    const query = { apiVersion: 'v1', kind: 'Pod', namespace, labels: `job-name=${run.job}` }
    for await (const change of cluster.watch(query, { signal: own })) {
      if (change.type === 'Deleted') throw new UserError(`the Pod of \`${run.job}\` was deleted`)
      if (change.type !== 'Changed') continue
      last = change.object
      const status = (last['status'] ?? {}) as Status // a Pod's
      const state = status.containerStatuses?.find(({ name }) => name === run.container)?.state
      if (!state?.running && !state?.terminated) refuseProblem(run, last, status)
      else {
        clearTimeout(timer)
        output ??= print(run, last.metadata.name, signal)
        // A failure is thrown when the container has ended.
        output.catch(() => {})
        if (state.terminated) {
          refuseStartError(run.job, state.terminated)
          await output
          return state.terminated.exitCode
        }
      }
    }
    throw own.reason
  } finally {
    clearTimeout(timer)
  }
}

async function print({ cluster, namespace, container, print }: StartedRun, pod: string, signal: AbortSignal) {
  for await (const line of cluster.logs({ name: pod, namespace }, { container, follow: true, signal }))
    await print(line)
}

/** Throws a UserError if the program of the container could not be started. */
function refuseStartError(job: string, { reason, message = '' }: NonNullable<State['terminated']>): void {
  if (reason !== 'StartError' && reason !== 'ContainerCannotRun') return
  throw new UserError(`\`${job}\` cannot start: its program cannot be executed`, { notes: lines(message) })
}

/** Throws a UserError for a Pod that will not start. */
function refuseProblem({ job, now }: StartedRun, pod: KubeObject, { phase, initContainerStatuses = [] }: Status): void {
  const problem = podProblems(pod, [], now()).find(one => !one.isPassing)
  if (problem) throw new UserError(`\`${job}\` cannot start: ${SHORT[problem.code]}`, { notes: lines(problem.detail) })
  if (phase !== 'Failed') return
  const failed = initContainerStatuses.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  const what = failed
    ? `\`${failed.name}\` failed with exit status ${failed.state?.terminated?.exitCode}`
    : 'its Pod failed'
  throw new UserError(`\`${job}\` cannot start: ${what}`)
}

function notStarted({ job, now }: StartedRun, pod: KubeObject | undefined): UserError {
  const problem = pod && podProblems(pod, [], now())[0]
  const notes = problem ? [SHORT[problem.code], ...lines(problem.detail)] : []
  const hint = 'wait longer with `--timeout`; `--no-deps` does not wait for dependencies'
  return new UserError(`\`${job}\` has not started in time`, { notes, hint })
}

const lines = (text: string): readonly string[] => text.split('\n').filter(line => line.trim() !== '')
