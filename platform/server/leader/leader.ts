import { setMaxListeners } from 'node:events'
import { hostname } from 'node:os'
import { backOff, pause } from '../../../adapters/http/back-off.ts'
import { withTimeLimit } from '../../../adapters/process/time-limit.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { holdLease } from '../../../environment/apply/held-lease.ts'
import type { Clock } from '../../../environment/clock.ts'
import { LEADER_LEASE, MANAGED_LABEL, PLATFORM_NAMESPACE, rfc3339 } from '../../records/names.ts'
import type { ServerContext } from '../context.ts'
import { TaskFailures } from './task-failures.ts'
import type { WakeSignal } from './wake-signal.ts'

/** A recurring task of the platform that one replica does. */
export interface LeaderTask {
  /** Its name in the log: `expired tokens`. */
  readonly name: string
  /** Milliseconds from the end of one run of the task to the start of the next. */
  readonly everyMs: number
  /** Ends the pause early. */
  readonly nudge?: WakeSignal
  /**
   * Runs the task once. It has to stop soon after the signal is aborted, because another replica may then have started
   * it. Each of its writes has to be correct even if an earlier run was interrupted halfway.
   */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Milliseconds after which a leader that could not renew its Lease stops. Other replicas take the Lease 15 s after its
 * last renewal, which leaves time for the tasks to stop.
 */
const SILENCE = 9000
/** Milliseconds between two attempts of a replica to become leader. */
const LOOK = 2000
/** Milliseconds that one run of a task may take, and of the first pause after a failure. */
const RUN_LIMIT = 300_000
const FIRST_PAUSE = 1000

/**
 * Runs the tasks while this replica is the leader, until the signal is aborted. One of the replicas leads; if it is
 * killed, another one takes over 15 s after the last renewal of the Lease. An error of a task is logged and noted among
 * the failures, and the other tasks continue.
 */
export async function lead(
  world: ServerContext,
  tasks: readonly LeaderTask[],
  signal: AbortSignal,
  failing = new TaskFailures(),
): Promise<void> {
  const name = `${hostname()}-${world.random(5).toString('hex')}`
  const clock = toClock(world)
  const log = (text: string) => world.log({ time: rfc3339(world.now()), text })
  for (let failures = 0; !signal.aborted; ) {
    try {
      const lease = await holdLease({
        cluster: world.cluster,
        name: LEADER_LEASE,
        namespace: PLATFORM_NAMESPACE,
        labels: { [MANAGED_LABEL]: 'true' },
        // After a crash, the replica has another identity: tasks of its previous process may still be in progress.
        holder: { name, isGone: () => false },
        clock,
        signal,
        waiting: () => {},
        busy: () => new UserError('another replica leads'),
        lost: () => new UserError('another replica has taken over'),
        silence: SILENCE,
        isStrict: true,
      })
      failures = 0
      // Each task waits with this signal; Node.js would warn of more than ten.
      setMaxListeners(0, lease.signal)
      log(`${name} leads`)
      try {
        await Promise.all(tasks.map(task => repeat(task, lease.signal, log, failing)))
      } finally {
        failing.clear()
        await lease.release()
        log(`${name} no longer leads`)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof UserError)) log(`leading: ${messageOf(error)} (${++failures})`)
    }
    await pause(Math.max(LOOK, backOff(failures + 1, FIRST_PAUSE, 30_000)), signal).catch(() => {})
  }
}

/** Runs a task until the signal is aborted, with longer pauses after repeated failures. */
async function repeat(
  task: LeaderTask,
  signal: AbortSignal,
  log: (text: string) => void,
  failing: TaskFailures,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    let wait = task.everyMs
    try {
      await task.run(withTimeLimit(RUN_LIMIT, signal))
      failures = 0
      failing.succeeded(task.name)
    } catch (error) {
      if (signal.aborted) return
      failures++
      failing.failed(task.name, messageOf(error), failures)
      log(`${task.name}: ${messageOf(error)} (${failures})`)
      wait = backOff(failures, FIRST_PAUSE, Math.max(task.everyMs, FIRST_PAUSE))
    }
    const isFailing = failures > 0
    await (task.nudge && !isFailing ? task.nudge.wait(wait, signal) : pause(wait, signal)).catch(() => {})
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const toClock = ({ now }: ServerContext): Clock => ({
  now,
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    return () => clearInterval(timer)
  },
})
