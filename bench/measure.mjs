import { spawnSync } from 'node:child_process'

const TIME = '/usr/bin/time'

/**
 * Runs a program and waits for its end: the whole process, from start to exit. Returns the milliseconds, the output
 * and, if GNU time is installed, the peak memory in MiB. Throws if the exit status is not 0: a program that fails early
 * looks fast.
 */
export function measure(command, args, options) {
  const wrapped = timeIsThere() ? [TIME, ['--quiet', '--format', '\n%M', command, ...args]] : [command, args]
  const began = process.hrtime.bigint()
  const { status, stdout, stderr, error } = spawnSync(wrapped[0], wrapped[1], {
    ...options,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    timeout: 600_000,
  })
  const milliseconds = Number(process.hrtime.bigint() - began) / 1e6
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error ?? `exit status ${status}`}\n${stderr?.slice(-2000)}`)
  const peak = timeIsThere() ? Number(stderr.trimEnd().split('\n').at(-1)) / 1024 : undefined
  return { milliseconds, peak, stdout, stderr }
}

let there
function timeIsThere() {
  there ??= spawnSync(TIME, ['--version']).status === 0
  return there
}

/** The middle one of some numbers; of an even count the mean of the two in the middle. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
