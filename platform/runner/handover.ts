import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { pause } from '../../adapters/http/back-off.ts'

// The clone container reports its result to the run container over a connection inside the Pod, which also closes when
// the clone is killed.

/** Local to the Pod: its containers share the loopback interface. */
const PORT = 7117
/** Milliseconds between two attempts, while the other container is starting. */
const AGAIN = 50
const DONE = 'done'

/** The connection from the clone to the run, opened before the clone begins. */
export async function reportRun(signal: AbortSignal, port = PORT): Promise<Socket> {
  for (;;) {
    const socket = createConnection({ port, host: '127.0.0.1' })
    try {
      await once(socket, 'connect', { signal })
      // If the run has ended, the other side no longer reads.
      return socket.on('error', () => {})
    } catch {
      socket.destroy()
      await pause(AGAIN, signal)
    }
  }
}

/** Reports that the repository is complete. */
export async function reportSuccess(socket: Socket): Promise<void> {
  socket.end(DONE)
  if (!socket.closed) await once(socket, 'close')
}

/**
 * Reports that the clone has failed: closes the connection, which the run may have to accept first. Gives up after that
 * many milliseconds.
 */
export async function reportFailure(calling: Promise<Socket>, limit: number): Promise<void> {
  const over = new AbortController()
  const socket = await Promise.race([
    calling.catch(() => undefined),
    pause(limit, over.signal).then(
      () => undefined,
      () => undefined,
    ),
  ])
  over.abort()
  socket?.destroy()
}

/** Waits for the clone; false if it failed or was killed. Throws if the signal is aborted. */
export async function awaitClone(signal: AbortSignal, port = PORT): Promise<boolean> {
  const server = createServer({ allowHalfOpen: false }).listen(port, '127.0.0.1')
  try {
    const [socket] = (await once(server, 'connection', { signal })) as [Socket]
    const ended = () => socket.destroy()
    signal.addEventListener('abort', ended)
    try {
      return (await text(socket)) === DONE
    } catch {
      signal.throwIfAborted()
      return false
    } finally {
      signal.removeEventListener('abort', ended)
    }
  } finally {
    server.close()
  }
}
