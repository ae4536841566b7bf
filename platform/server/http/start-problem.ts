/**
 * Returns the reason why the server does not start, in a few lines. Node.js would also print the failing source line,
 * which is the entire program, because the bundle is a single line. Errors in an operator's input (`settings: …`,
 * `keys: …`) need no stack trace.
 */
export function startProblem(error: unknown): string {
  if (!(error instanceof Error)) return `does not start: ${error}`
  return `does not start: ${/^(settings|keys): /.test(error.message) ? error.message : (error.stack ?? error.message)}`
}
