/**
 * Returns the reason why a server does not start, in a few lines: Node.js would also print the line of the program, and
 * all of the program is on one line. Errors in the input of an operator (`settings: …`, `keys: …`) need no stack.
 */
export function startProblem(error: unknown): string {
  if (!(error instanceof Error)) return `does not start: ${error}`
  return `does not start: ${/^(settings|keys): /.test(error.message) ? error.message : (error.stack ?? error.message)}`
}
