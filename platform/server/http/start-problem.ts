/**
 * Why a server does not start, in a few lines: Node.js would print the line of the program, too, which is all of it. What
 * an operator has written (`settings: …`, `keys: …`) needs no stack.
 */
export function startProblem(error: unknown): string {
  if (!(error instanceof Error)) return `does not start: ${error}`
  return `does not start: ${/^(settings|keys): /.test(error.message) ? error.message : (error.stack ?? error.message)}`
}
