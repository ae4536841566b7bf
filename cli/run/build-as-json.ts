import type { BuildOutcome } from '../../builds/build-outcome.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Context } from '../command.ts'
import { problemObject, writeObject } from '../terminal/objects.ts'

/**
 * Runs a build whose progress is an object a line on standard error, with its diagnostics, errors
 * and result. `run` gets a context whose standard output is standard error. Gives the exit status.
 */
export async function buildAsJson(context: Context, run: (shown: Context) => Promise<number>): Promise<number> {
  const { io } = context
  try {
    return await run({ ...context, io: { ...io, cwd: io.cwd, stdout: io.stderr } })
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    writeObject(io.stderr, problemObject('error', error))
    writeObject(io.stderr, { type: 'result', outcome: 'failed' })
    return error instanceof UsageError ? 2 : 1
  }
}

/** The last object: the outcome, and the references of the images. */
export function writeResult({ io }: Context, outcome: BuildOutcome): void {
  const images = outcome.kind === 'built' ? { images: Object.fromEntries(outcome.images) } : {}
  writeObject(io.stderr, { type: 'result', outcome: outcome.kind === 'built' ? 'built' : 'failed', ...images })
}

/** The last object of a build that was interrupted. */
export const writeInterrupted = ({ io }: Context): void =>
  writeObject(io.stderr, { type: 'result', outcome: 'interrupted' })
