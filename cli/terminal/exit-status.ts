/** Exit status of a command that Ctrl-C ended. */
export const INTERRUPTED = 130
