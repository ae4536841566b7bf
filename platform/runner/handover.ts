import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { pause } from '../../adapters/http/back-off.ts'

// The clone container reports its result to the run container over a connection inside the Pod, which also closes when
// the clone is killed.

/** Port on the loopback interface, which the containers of the Pod share. */
const PORT = 7117
/** Delay between two connection attempts while the container of the run is starting, in milliseconds. */
const AGAIN = 50
const DONE = 'done'

/**
 * Opens the connection from the clone container to the container of the run, before the clone begins. Tries again until
 * the run accepts the connection. Throws if the signal is aborted.
 */
export async function reportRun(signal: AbortSignal, port = PORT): Promise<Socket> {
  for (;;) {
    const socket = createConnection({ port, host: '127.0.0.1' })
    try {
      await once(socket, 'connect', { signal })
      // Writes may fail, because the run closes the connection when it ends.
      return socket.on('error', () => {})
    } catch {
      socket.destroy()
      await pause(AGAIN, signal)
    }
  }
}

/** Reports to the container of the run that the repository is complete. Resolves when the connection is closed. */
export async function reportSuccess(socket: Socket): Promise<void> {
  socket.end(DONE)
  if (!socket.closed) await once(socket, 'close')
}

/**
 * Reports that the clone has failed, by closing the connection. If the connection is not open yet, waits at most
 * `limit` milliseconds until it is open.
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

/**
 * Waits for the report of the clone container. Returns true if the repository is complete, and false if the clone
 * failed or was killed. Throws if the signal is aborted.
 */
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
