import type { Duplex } from 'node:stream'
import { withTimeLimit } from '../../process/time-limit.ts'

/** Timeout for the response, in milliseconds; the engine does no work before it responds. */
const ANSWER_WITHIN = 30_000
/** Maximum size of the response head in bytes: far more than an upgrade response needs. */
const LONGEST_HEAD = 64 * 1024

/** Error of a Docker Engine that refuses to upgrade the connection to another protocol. */
class UpgradeRefused extends Error {
  readonly status: number

  constructor(path: string, status: number) {
    super(`the Docker Engine answers ${path} with status ${status}`)
    this.status = status
  }
}

/**
 * Upgrades a connection to a Docker Engine to HTTP/2. The engine is then the server (`/grpc`) or the client
 * (`/session`) on this connection. Throws UpgradeRefused, the signal's abort reason, and the connection's error.
 */
export async function upgrade<Connection extends Duplex>(
  socket: Connection,
  path: string,
  signal?: AbortSignal,
  headers: readonly (readonly [name: string, value: string])[] = [],
): Promise<Connection> {
  const within = withTimeLimit(ANSWER_WITHIN, ...(signal ? [signal] : []))
  const stop = () => socket.destroy(within.reason)
  within.addEventListener('abort', stop, { once: true })
  try {
    return await upgradeNow(socket, path, headers)
  } finally {
    within.removeEventListener('abort', stop)
  }
}

async function upgradeNow<Connection extends Duplex>(
  socket: Connection,
  path: string,
  headers: readonly (readonly [name: string, value: string])[],
): Promise<Connection> {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: docker',
    'Connection: Upgrade',
    'Upgrade: h2c',
    'Content-Length: 0',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const { head, rest } = await readHead(socket)
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
  if (status !== 101) {
    socket.destroy()
    throw new UpgradeRefused(path, status)
  }
  if (rest.length > 0) socket.unshift(rest)
  return socket
}

function readHead(socket: Duplex): Promise<{ readonly head: string; readonly rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0)
    const onReadable = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        read = Buffer.concat([read, chunk])
        const end = read.indexOf('\r\n\r\n')
        if (end === -1 && read.length < LONGEST_HEAD) continue
        stop()
        resolve({ head: read.toString('latin1', 0, end), rest: read.subarray(end + 4) })
        return
      }
    }
    const fail = (error: Error) => {
      stop()
      reject(error)
    }
    const closed = () => fail(new Error('the connection was closed'))
    const stop = () => socket.off('readable', onReadable).off('error', fail).off('close', closed).off('end', closed)
    socket.on('readable', onReadable).once('error', fail).once('close', closed).once('end', closed)
  })
}
