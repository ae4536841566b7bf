/** Exit status that a shell has for a program that it cannot start: not executable, or not found. */
export type StartStatus = 126 | 127

/** Errors of a runtime about the container around the program, such as a working directory that does not exist. */
const AROUND = /\bchdir\b|\bcwd\b|\bmount/i
const NOT_EXECUTABLE = /permission denied|exec format error|is a directory|not a directory/i
const NOT_FOUND = /executable file .*not found|no such file or directory/i

/**
 * Returns the exit status for the message of a container runtime that could not start a program, as `docker compose
 * run` has it; undefined if the message is about something else. runc, crun and gVisor have different messages.
 */
export function startStatus(message: string): StartStatus | undefined {
  if (AROUND.test(message)) return undefined
  if (NOT_FOUND.test(message)) return 127
  return NOT_EXECUTABLE.test(message) ? 126 : undefined
}
