import { hostname, userInfo } from 'node:os'
import { type Cluster, ClusterError } from '../cluster/cluster.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { Clock } from '../environment/clock.ts'
import type { Holder } from '../environment/lease.ts'
import { parseDuration, readableDuration } from './duration-option.ts'
import type { Io } from './io.ts'

/** What a command that talks to a cluster works with. */
export interface Session {
  readonly cluster: Cluster
  readonly namespace: string
  /** Aborted at the deadline of the command, and by Ctrl-C. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly holder: Holder
}

export interface SessionOptions {
  readonly context: string | undefined
  readonly namespace: string | undefined
  /** Milliseconds; default $DEVCTL_TIMEOUT, else five minutes. */
  readonly timeout: number | undefined
}

/** Thrown into what runs when Ctrl-C is pressed. */
class Interrupted extends Error {}

/** Exit status of a command that Ctrl-C ended (decisions section 2). */
const INTERRUPTED = 130
const TIMEOUT = 300_000

/** Connects to the cluster and runs the work under one deadline; what the cluster refuses becomes a message for people. */
export async function withCluster(
  io: Io,
  options: SessionOptions,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const timeout =
    options.timeout ?? (io.env.DEVCTL_TIMEOUT ? parseDuration(io.env.DEVCTL_TIMEOUT, 'DEVCTL_TIMEOUT') : TIMEOUT)
  const deadline = AbortSignal.timeout(timeout)
  const interrupt = new AbortController()
  const onInterrupt = () => interrupt.abort(new Interrupted())
  process.once('SIGINT', onInterrupt)
  const signal = AbortSignal.any([deadline, interrupt.signal])
  try {
    const { connect } = await import('../cluster/kube-cluster.ts')
    const context = options.context ?? (io.env.DEVCTL_CONTEXT || undefined)
    const cluster = await connect({ ...(context !== undefined && { context }), env: io.env, signal })
    const namespace = options.namespace ?? (io.env.DEVCTL_NAMESPACE || cluster.namespace)
    return await work({ cluster, namespace, signal, clock, holder: holder() })
  } catch (error) {
    if (interrupt.signal.aborted) {
      io.stderr.write('interrupted\n')
      return INTERRUPTED
    }
    if (deadline.aborted)
      throw new UserError(`not done within ${readableDuration(timeout)}`, {
        hint: 'give it longer with `--timeout`, or see what it waits for with `kubectl get pods`',
      })
    throw toUserError(error)
  } finally {
    process.removeListener('SIGINT', onInterrupt)
  }
}

const clock: Clock = {
  now: () => Date.now(),
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    return () => clearInterval(timer)
  },
}

/** This process, for others who want to work on the same environment. */
function holder(): Holder {
  const { username } = userInfo()
  const machine = `${username}@${hostname()}`
  return {
    name: `${machine} (${process.pid})`,
    isGone(name) {
      const id = name.startsWith(`${machine} (`) ? /\((\d+)\)$/.exec(name)?.[1] : undefined
      return id !== undefined && !isRunning(Number(id))
    },
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // node throws nothing else
  }
}

function toUserError(error: unknown): unknown {
  if (!(error instanceof ClusterError)) return error
  const notes = error.causes.map(({ field, message }) => (field ? `${field}: ${message}` : message))
  const hint = HINTS[error.failure]
  return new UserError(error.message, { ...(hint !== undefined && { hint }), notes, cause: error })
}

const HINTS: Readonly<Partial<Record<ClusterError['failure'], string>>> = {
  forbidden: 'ask for the role `edit` in the namespace, or use a context that has it',
  unauthorized: 'log in again, or choose another context with `--context`',
  unreachable: 'is the cluster running, and is the context the right one?',
  unavailable: 'try again in a moment',
}
