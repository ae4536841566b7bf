import { hostname } from 'node:os'
import { backOff, pause } from '../../adapters/http/back-off.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Clock } from '../../operations/objects/clock.ts'
import { holdLease } from '../../operations/objects/held-lease.ts'
import { LEADER_LEASE, MANAGED_LABEL, PLATFORM_NAMESPACE, rfc3339 } from '../records/names.ts'
import { TaskFailures } from './task-failures.ts'
import type { PlatformWorld } from './world.ts'

/** Work of the platform that one replica does, again and again. */
export interface LeaderTask {
  /** As the log calls it: `expired tokens`. */
  readonly name: string
  /** Milliseconds from the end of one run to the begin of the next. */
  readonly everyMs: number
  /**
   * Does it once, and ends soon after the signal is aborted: another replica may have begun to do it
   * then. Whatever it writes has to be right when it was half done before.
   */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Milliseconds after which a leader that could not renew its Lease stops. Others take it 15 s after
 * its last renewal, so there is time for the tasks to end.
 */
const SILENCE = 9000
/** Milliseconds between two attempts of a replica that does not lead. */
const LOOK = 2000
/** Milliseconds of one run of a task, and of the first pause after a failure. */
const RUN_LIMIT = 300_000
const FIRST_PAUSE = 1000

/**
 * Does the tasks whenever this replica is the leader, until the signal is aborted. Of all replicas
 * one is; after it was killed another one takes over, 15 s after it last renewed its Lease. What a
 * task throws is logged, noted among the failures, and the others go on.
 */
export async function lead(
  world: PlatformWorld,
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
        // Where it runs again after a crash it has another name: what the last one began may still be under way.
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
      log(`${name} leads`)
      try {
        await Promise.all(tasks.map(task => repeat(task, lease.signal, log, failing)))
      } finally {
        failing.clear()
        await lease.release()
        log(`${name} leads no more`)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof UserError)) log(`leading: ${messageOf(error)} (${++failures})`)
    }
    await pause(Math.max(LOOK, backOff(failures + 1, FIRST_PAUSE, 30_000)), signal).catch(() => {})
  }
}

/** Runs a task until the signal is aborted; after failures it waits longer and longer. */
async function repeat(
  task: LeaderTask,
  signal: AbortSignal,
  log: (text: string) => void,
  failing: TaskFailures,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    let wait = task.everyMs
    try {
      await task.run(AbortSignal.any([signal, AbortSignal.timeout(RUN_LIMIT)]))
      failures = 0
      failing.succeeded(task.name)
    } catch (error) {
      if (signal.aborted) return
      failures++
      failing.failed(task.name, messageOf(error), failures)
      log(`${task.name}: ${messageOf(error)} (${failures})`)
      wait = backOff(failures, FIRST_PAUSE, Math.max(task.everyMs, FIRST_PAUSE))
    }
    await pause(wait, signal).catch(() => {})
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const toClock = ({ now }: PlatformWorld): Clock => ({
  now,
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    return () => clearInterval(timer)
  },
})
