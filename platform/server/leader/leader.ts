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

/** A recurring task that only the leader runs. */
export interface LeaderTask {
  /** Name of the task in the log, such as `expired tokens`. */
  readonly name: string
  /** Pause between the end of one run of the task and the start of the next, in milliseconds. */
  readonly everyMs: number
  /** Signal that ends the pause early. */
  readonly nudge?: WakeSignal
  /**
   * Runs the task once. The task has to stop soon after the signal is aborted, because another replica may then start
   * the same task. Each write of the task has to be correct even if an earlier run was interrupted halfway.
   */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Time in milliseconds after which a leader that could not renew its Lease stops. Other replicas acquire the Lease 15 s
 * after its last renewal, so the tasks have time to stop.
 */
const SILENCE = 9000
/** Interval between two attempts of a replica to become leader, in milliseconds. */
const LOOK = 2000
/** Timeout for one run of a task, and the first pause after a failure, in milliseconds. */
const RUN_LIMIT = 300_000
const FIRST_PAUSE = 1000

/**
 * Runs the tasks while this replica is the leader, until the signal is aborted. One replica leads; if it is killed,
 * another replica takes over 15 s after the last renewal of the Lease. If a task fails, the failure is logged and
 * recorded in `failing`, and the other tasks continue.
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
        // The identity is new for each process, because after a crash tasks of the previous process may still be in
        // progress.
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
      // Every task waits with this signal, and Node.js warns of more than ten listeners.
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

/** Runs a task repeatedly until the signal is aborted. After consecutive failures, the pauses get longer. */
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

const toClock = ({ now }: Pick<ServerContext, 'now'>): Clock => ({
  now,
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    return () => clearInterval(timer)
  },
})
