import { readFileSync } from 'node:fs'

/**
 * Returns the id and the start time of this process, so that other processes can check later whether it is still
 * running.
 */
export function thisProcess(): string {
  return `${process.pid} ${startOf(process.pid) ?? ''}\n`
}

/** Returns true if the process that wrote `thisProcess()` is still running. */
export function isAlive(owner: string): boolean {
  const [id, start] = owner.trim().split(' ')
  // Process ids are reused: it is the same process only if the start time matches.
  return isRunning(Number(id)) && (start === undefined || startOf(Number(id)) === start)
}

/** Returns true if a process with this id, of any user, is running on this machine. */
export function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // node throws nothing else
  }
}

/**
 * Returns the start time of a process, as Linux reports it; undefined on other systems.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The program name, in parentheses, may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
