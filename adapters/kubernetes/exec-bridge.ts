import { Duplex } from 'node:stream'
import { type CallOptions, ClusterError } from './cluster.ts'
import type { Access } from './connection.ts'
import { type ExecProcess, openExec } from './exec.ts'

/** A listener in a Pod, and the container with Node.js through which the listener is reached. */
export interface BridgeTarget {
  readonly pod: string
  readonly namespace: string
  readonly container: string
  /** Port of 127.0.0.1, or path of a Unix socket. */
  readonly at: number | string
}

/** Exit statuses of the bridge: `NOT_THERE` if nothing listens at the target, `FAILED` for any other error. */
const NOT_THERE = 3
const FAILED = 4

/**
 * Program that connects its input and output to the target. Exits after a minute without input, because Kubernetes does
 * not end the program when the connection is lost. The two protocols that are used over the bridge send a keepalive
 * every 10 s.
 */
const BRIDGE = `
const { argv, exit, stdin, stdout, stderr } = process
const at = argv[1]
const socket = require('node:net').connect(/^\\d+$/.test(at) ? { host: '127.0.0.1', port: +at, noDelay: true } : { path: at })
socket.on('error', ({ code, message }) => {
  stderr.write(message)
  exit(code === 'ECONNREFUSED' || code === 'ENOENT' ? ${NOT_THERE} : ${FAILED})
})
const late = setTimeout(() => exit(${FAILED}), 60000)
stdin.on('data', () => late.refresh()).pipe(socket)
socket.pipe(stdout, { end: false })
socket.on('close', () => stdout.write('', () => exit(0)))
`

/**
 * Connects to a listener in a Pod over the exec API, for clusters where ports cannot be forwarded. The connection
 * behaves like one from `openPortForward`. Rejects with a ClusterError if the server does not allow it. Destroys the
 * stream with a ClusterError if nothing listens at the target, or if the connection is lost.
 */
export async function openExecBridge(access: Access, target: BridgeTarget, options: CallOptions = {}): Promise<Duplex> {
  const { pod, namespace, container, at } = target
  const command = ['node', '-e', BRIDGE, String(at)]
  const remote = await openExec(access, { pod, namespace, container, command, stdin: true }, options)
  return new BridgeStream(remote, target)
}

class BridgeStream extends Duplex {
  readonly #remote: ExecProcess
  readonly #target: BridgeTarget
  #said = ''

  constructor(remote: ExecProcess, target: BridgeTarget) {
    super({ allowHalfOpen: true })
    // The bridge may fail before the caller adds a listener, so the error stays in `errored`.
    this.on('error', () => {})
    this.#remote = remote
    this.#target = target
    remote.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-1000)
    })
    remote.stdout.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) remote.stdout.pause()
    })
    const passed = new Promise<void>(resolve => remote.stdout.once('end', resolve))
    remote.exit.then(
      status => (status === 0 ? void passed.then(() => this.push(null)) : this.destroy(this.#failure(status))),
      error => this.destroy(error),
    )
  }

  #failure(status: number): ClusterError {
    const { pod, at } = this.#target
    if (status === NOT_THERE)
      return new ClusterError(
        'not-found',
        `nothing listens on ${typeof at === 'number' ? `port ${at}` : at} in pod/${pod}`,
      )
    return new ClusterError(
      'unavailable',
      `pod/${pod}: the bridge has ended with status ${status}: ${this.#said.trim()}`,
    )
  }

  override _read(): void {
    this.#remote.stdout.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#remote.stdin.write(chunk, encoding, done)
  }

  override _final(done: () => void): void {
    this.#remote.stdin.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#remote.destroy()
    done(error)
  }
}
