import { Duplex } from 'node:stream'
import { type CallOptions, ClusterError } from './cluster.ts'
import type { Access } from './connection.ts'
import { type ExecProcess, openExec } from './exec.ts'

/** Something that listens in a Pod, as a container with Node.js reaches it. */
export interface BridgeTarget {
  readonly pod: string
  readonly namespace: string
  readonly container: string
  /** A port of 127.0.0.1, or the path of a Unix socket. */
  readonly at: number | string
}

/** Statuses of the bridge: nothing listens there; something else is wrong. */
const NOT_THERE = 3
const FAILED = 4

/**
 * Program that connects its input and output to the target. Kubernetes lets it continue when the connection to it
 * breaks, so it exits after a minute without input: both protocols that use it send a keepalive every 10 s.
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
 * A connection to something in a Pod over the exec API, for where ports cannot be forwarded. It is
 * like that of `openPortForward`. Rejects with a ClusterError when the server does not let it be
 * made; the stream is destroyed with one when nothing listens there, or the way breaks.
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
    // The bridge may fail before the caller listens: the error stays in `errored`.
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
