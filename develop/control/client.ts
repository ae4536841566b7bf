import { connect, type Socket } from 'node:net'
import { withTimeLimit } from '../../adapters/process/time-limit.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { linesOf } from './lines.ts'
import type { ControlAnswer, ControlRequest } from './messages.ts'

/**
 * Timeout for an answer of a session on this machine, in milliseconds. `RESTARTING` is the timeout for the answer to
 * `restart`, which waits for the container; `ENDING` is the timeout for the end of the session.
 */
const ANSWER = 10_000
const RESTARTING = 60_000
const ENDING = 60_000

/**
 * Error codes for two cases: nothing is listening, or the session ended before it accepted the connection or while it
 * answered.
 */
const ENDED = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])

/**
 * Sends a request to the running session at an address. Returns undefined if there is no session, or if it ends before
 * it answers. Throws a UserError if the session does not answer in time.
 */
export async function askSession(
  address: string,
  request: ControlRequest,
  signal?: AbortSignal,
): Promise<ControlAnswer | undefined> {
  const socket = await connected(address)
  if (!socket) return undefined
  const limit = request.ask === 'restart' ? RESTARTING : ANSWER
  const deadline = withTimeLimit(limit, ...(signal ? [signal] : []))
  const stop = () => socket.destroy()
  deadline.addEventListener('abort', stop, { once: true })
  try {
    socket.write(`${JSON.stringify(request)}\n`)
    for await (const line of linesOf(socket)) return JSON.parse(line) as ControlAnswer // made by our own version
    return undefined
  } catch (error) {
    signal?.throwIfAborted()
    if (deadline.aborted)
      throw new UserError(`the running \`devctl up\` did not answer within ${limit / 1000} s`, {
        hint: 'end it with Ctrl-C, or kill it, and try again',
        cause: error,
      })
    if (isEnd(error)) return undefined
    throw error
  } finally {
    deadline.removeEventListener('abort', stop)
    socket.destroy()
  }
}

/**
 * Tells the session at an address to end, and waits until it has ended: the session closes this connection last. Throws
 * a UserError if it does not end in time.
 */
export async function endSession(address: string, signal?: AbortSignal): Promise<void> {
  const socket = await connected(address)
  if (!socket) return
  const deadline = withTimeLimit(ENDING, ...(signal ? [signal] : []))
  const request: ControlRequest = { ask: 'stop' }
  const stop = () => socket.destroy()
  deadline.addEventListener('abort', stop, { once: true })
  try {
    const closed = new Promise(resolve => socket.once('close', resolve))
    // If the session is killed, its connection breaks; this also counts as an end.
    socket
      .on('error', () => {})
      .resume()
      .write(`${JSON.stringify(request)}\n`)
    await closed
    signal?.throwIfAborted()
    if (deadline.aborted)
      throw new UserError(`the running \`devctl up\` did not end within ${ENDING / 1000} s`, {
        hint: 'end it with Ctrl-C, or kill it, and try again',
      })
  } finally {
    deadline.removeEventListener('abort', stop)
    socket.destroy()
  }
}

/** Connects to a session; resolves to undefined if nothing is listening. */
const connected = (address: string): Promise<Socket | undefined> =>
  new Promise((resolve, reject) => {
    const socket = connect(address)
    socket.once('connect', () => resolve(socket))
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (isEnd(error)) resolve(undefined)
      else reject(error)
    })
  })

const isEnd = (error: unknown): boolean => ENDED.has((error as NodeJS.ErrnoException).code ?? '')
