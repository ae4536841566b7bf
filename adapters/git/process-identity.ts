import { readFileSync } from 'node:fs'

/**
 * Returns the id and the start time of this process, so that other processes can check later whether it is still
 * running.
 */
export function thisProcess(): string {
  return `${process.pid} ${startOf(process.pid) ?? ''}\n`
}

/** True if the process that wrote `thisProcess()` is still running. */
export function isAlive(owner: string): boolean {
  const [id, start] = owner.trim().split(' ')
  // An id is used again: it is the same process only if it began when the owner did.
  return isRunning(Number(id)) && (start === undefined || startOf(Number(id)) === start)
}

/** True if a process with this id is running on this machine, of any user. */
export function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // node throws nothing else
  }
}

/**
 * When a process began, as Linux reports it; undefined elsewhere.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The name of the program, in brackets, may have blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
