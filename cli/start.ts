import { reasonOf } from '../compiler/diagnostics/system-error.ts'
import { COMPLETE, main } from './main.ts'
import { INTERRUPTED } from './terminal/exit-status.ts'
import { processIo } from './terminal/process-io.ts'

export { main } from './main.ts'

/** Runs a command line with the streams of this process, and sets its exit status. Called by bin/devctl.cjs. */
export async function start(argv: readonly string[]): Promise<void> {
  let isWritten = true
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // The reader may close our output early (`| head`); this is not a failure.
      if (error.code === 'EPIPE') return
      if (isWritten && stream === process.stdout)
        process.stderr.write(`error: cannot write to standard output: ${reasonOf(error)}\n`)
      isWritten = false
      process.exitCode = 1
    })
  const status = await main(argv, processIo())
  // Exit immediately, even if connections are open or some output has not been read.
  if (status === INTERRUPTED || argv[0] === COMPLETE) process.exit(status)
  if (isWritten) process.exitCode = status
}
