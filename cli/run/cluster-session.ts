import { type Cluster, ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { EndedRequest, GivenUp } from '../../adapters/kubernetes/request.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { readableDuration } from '../../compiler/values/numbers/readable-duration.ts'
import { admissionHint } from '../../environment/plan/admission.ts'
import { isOfEndingNamespace, namespaceEnds } from '../../environment/plan/namespace.ts'
import { webhookRefusal } from '../../environment/plan/webhook-refusal.ts'
import type { Target, TargetOptions } from '../../project/contexts/target.ts'
import type { Session } from '../../project/session.ts'
import type { LogLevel } from '../command.ts'
import { INTERRUPTED } from '../terminal/exit-status.ts'
import { watchForInterruption } from '../terminal/interruption.ts'
import type { Io } from '../terminal/io.ts'
import { deadlineOf } from './deadline.ts'

export interface SessionOptions extends TargetOptions {
  readonly context: string | undefined
  readonly namespace: string | undefined
  /** Timeout in milliseconds; defaults to $DEVCTL_TIMEOUT, or else five minutes. */
  readonly timeout: number | undefined
  /** Log level; `debug` prints every request to standard error, and the number of requests at the end. */
  readonly logLevel?: LogLevel
  /** True if the command has no deadline: it continues until Ctrl-C, which is its normal end. */
  readonly isEndless?: boolean
  /**
   * Target from the manifest. Options and variables take precedence over the manifest, and the manifest over the
   * current context.
   */
  readonly manifest?: TargetOptions
}

/**
 * Connects to the cluster of the target (project/contexts/target.ts) and runs the work under one deadline. Turns
 * rejections by the cluster into readable error messages.
 */
export async function withCluster(
  io: Io,
  options: SessionOptions,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const timeout = deadlineOf(io, options.timeout)
  const began = Date.now()
  const deadline = options.isEndless ? new AbortController().signal : AbortSignal.timeout(timeout)
  const interrupt = watchForInterruption()
  const signal = AbortSignal.any([deadline, interrupt.signal])
  const { trace, end } = traceRequests(io, options.logLevel)
  let target: Target | undefined
  const givenUp: GivenUp[] = []
  let cluster: Cluster | undefined
  try {
    const { openSession } = await import('../../api/open-session.ts')
    const opened = await openSession(io, options, {
      signal,
      trace,
      giveUp: call => givenUp.push(call),
      chosen: one => {
        target = one
      },
    })
    cluster = opened.cluster
    return await work(options.isEndless ? opened : { ...opened, deadline: began + timeout })
  } catch (error) {
    if (interrupt.signal.aborted) {
      if (!options.isEndless) io.stderr.write('interrupted\n')
      return INTERRUPTED
    }
    if (deadline.aborted) {
      const ours = givenUp.filter(({ reason }) => reason === deadline.reason)
      const { unanswered } = await import('../terminal/unanswered.ts')
      const calls = await unanswered(cluster, ours)
      throw new UserError(`not done within ${readableDuration(timeout)}`, {
        notes: [...stillThere(error), ...calls.notes],
        hint:
          calls.hint ??
          hintIn(error) ??
          'wait longer with `--timeout`, or see what it waits for with `kubectl get pods`',
      })
    }
    throw toUserError(error, target)
  } finally {
    end()
    interrupt.stop()
  }
}

/**
 * Prints every request to the cluster on standard error: method, path, status and duration in milliseconds, but never
 * bodies or credentials.
 */
export function traceRequests(io: Io, logLevel: LogLevel | undefined): RequestTrace {
  if (logLevel !== 'debug') return { trace: undefined, end: () => {} }
  let count = 0
  return {
    trace({ method, path, status, milliseconds }) {
      count++
      io.stderr.write(`debug: ${method} ${path} ${status ?? 'no answer'} ${Math.round(milliseconds)} ms\n`)
    },
    end: () => io.stderr.write(`debug: ${count} requests to the cluster\n`),
  }
}

interface RequestTrace {
  /** Callback for each request; undefined unless the log level is `debug`. */
  readonly trace: ((exchange: EndedRequest) => void) | undefined
  /** Prints the number of requests. */
  end(): void
}

/**
 * Returns the messages and notes of the UserErrors in an error. They describe the work that was unfinished at the
 * deadline.
 */
const stillThere = (error: unknown): readonly string[] =>
  userErrorsIn(error).flatMap(one => [one.message, ...one.notes])

const hintIn = (error: unknown): string | undefined => userErrorsIn(error).find(one => one.hint !== undefined)?.hint

function userErrorsIn(error: unknown): readonly UserError[] {
  const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
  return all.filter(one => one instanceof UserError)
}

/**
 * Turns an error from the cluster into a UserError; returns other errors unchanged. If several calls were refused for
 * the same reason, the reason is reported once.
 */
export function toUserError(error: unknown, target: Target | undefined): unknown {
  if (error instanceof AggregateError) {
    const all = error.errors.map(one => toUserError(one, target))
    const ours = all.filter(one => one instanceof UserError)
    const [first] = ours
    if (first === undefined || ours.length < all.length) return error
    const others = new Set(ours.map(({ message }) => message).filter(message => message !== first.message))
    const { message, hint, notes } = first
    return new UserError(message, { ...(hint !== undefined && { hint }), notes: [...notes, ...others], cause: error })
  }
  if (!(error instanceof ClusterError)) return error
  const byWebhook = webhookRefusal(error, 'this change')
  if (byWebhook) return byWebhook
  if (isOfEndingNamespace(error)) return namespaceEnds(target?.namespace ?? '', [], error)
  const causes = error.causes.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  const isContact = error.failure === 'unreachable' || error.failure === 'unauthorized'
  const notes =
    isContact && target ? [...causes, `context \`${target.context}\`, chosen by ${target.from.context}`] : causes
  const hint = admissionHint(error) ?? HINTS[error.failure]
  return new UserError(error.message, { ...(hint !== undefined && { hint }), notes, cause: error })
}

const HINTS: Readonly<Partial<Record<ClusterError['failure'], string>>> = {
  forbidden: 'ask for the role `edit` in the namespace, or use a context that has it',
  unauthorized: 'log in again, or choose another context with `--context`',
  unreachable: 'is the cluster running, and is the context the right one?',
  unavailable: 'try again in a moment',
}
