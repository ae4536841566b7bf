import type { BuildOutcome } from '../../builds/build-outcome.ts'
import { UsageError, UserError } from '../../compiler/diagnostics/user-error.ts'
import type { Context } from '../command.ts'
import { problemObject, writeObject } from '../terminal/objects.ts'

/**
 * Runs a build and prints its progress, diagnostics, errors and result on standard error, one JSON object per line.
 * `run` is called with a context whose standard output is standard error. Returns the exit status.
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

/** Prints the last JSON object of a build, with the outcome and the references of the images. */
export function writeResult({ io }: Context, outcome: BuildOutcome): void {
  const images = outcome.kind === 'built' ? { images: Object.fromEntries(outcome.images) } : {}
  writeObject(io.stderr, { type: 'result', outcome: outcome.kind === 'built' ? 'built' : 'failed', ...images })
}

/** Prints the last JSON object of an interrupted build. */
export const writeInterrupted = ({ io }: Context): void =>
  writeObject(io.stderr, { type: 'result', outcome: 'interrupted' })
