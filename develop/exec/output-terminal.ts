import type { Readable } from 'node:stream'
import { readOutput } from '../../adapters/process/output-lines.ts'
import { runShell } from '../../adapters/process/run-shell.ts'
import { Masker } from '../../compiler/values/secrets/masker.ts'
import type { RemoteTerminal } from './remote-terminal.ts'

/**
 * Time in milliseconds that a program on this machine has to end after it was asked to end. `DRAIN` is the time for its
 * last output.
 */
const GRACE = 8000
const DRAIN = 500

/** Masker without secrets. The output of programs is not masked here, but only if and when it is shown. */
const masker = new Masker([])

/**
 * Returns a stand-in for a terminal: programs have no input, and each line of their output is passed on. Used for
 * several programs that run side by side.
 */
export function outputTerminal(line: (stream: 'stdout' | 'stderr', text: string) => void): RemoteTerminal {
  const pass = async (stream: 'stdout' | 'stderr', from: Readable) => {
    for await (const text of readOutput(from, { masker, colours: true })) line(stream, text)
  }
  return {
    size: undefined,
    type: undefined,
    async attach(remote) {
      remote.stdin.end()
      try {
        const [status] = await Promise.all([remote.exit, pass('stdout', remote.stdout), pass('stderr', remote.stderr)])
        return status
      } finally {
        remote.destroy()
      }
    },
    ignoreKeys: () => () => {},
    async runHere(command, { folder, env, signal }) {
      const options = {
        folder,
        args: command,
        env,
        signal,
        masker,
        line,
        noBash: true,
        colours: true,
        grace: GRACE,
        drain: DRAIN,
      }
      const { exitCode, signal: ended, background } = await runShell('exec "$@"', options)
      await background?.end()
      const { constants } = await import('node:os')
      return exitCode ?? 128 + (ended ? constants.signals[ended] : 0)
    },
  }
}
