import { processIo } from './io.ts'
import { main } from './main.ts'

export { main } from './main.ts'

/** Runs a command line for this process, with its streams, and leaves the exit status to it. What bin/devctl.cjs calls. */
export async function start(argv: readonly string[]): Promise<void> {
  // Whoever reads our output may stop reading (`| head`): that is no failure.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(0)
    })
  process.exitCode = await main(argv, processIo())
}
