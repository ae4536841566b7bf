/** Exit status of a command that Ctrl-C ended (decisions section 2). */
export const INTERRUPTED = 130
