/** Exit status with which a shell reports a program that it cannot start: 126 for not executable, 127 for not found. */
export type StartStatus = 126 | 127

/**
 * Matches errors of a container runtime that are about the container, not about the program: for example, that the
 * working directory does not exist.
 */
const AROUND = /\bchdir\b|\bcwd\b|\bmount/i
/** Matches names and paths in a message. The program may be called `mount`. */
const NAMES = /"[^"]*"|`[^`]*`|(?<=\s)\/\S*/g
const NOT_EXECUTABLE = /permission denied|exec format error|is a directory|not a directory/i
const NOT_FOUND = /executable file .*not found|no such file or directory/i

/**
 * Returns the exit status with which `docker compose run` ends if a container runtime could not start a program.
 * `message` is the message of the runtime; runc, crun and gVisor have different messages. Returns undefined if the
 * message is about something else.
 */
export function startStatus(message: string): StartStatus | undefined {
  if (AROUND.test(message.replace(NAMES, ''))) return undefined
  if (NOT_FOUND.test(message)) return 127
  return NOT_EXECUTABLE.test(message) ? 126 : undefined
}
