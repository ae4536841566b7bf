import { Readable, Writable } from 'node:stream'
import { type CallOptions, ClusterError } from './cluster.ts'
import type { Access } from './connection.ts'
import { openPodSocket, type PodSocket, type PodSocketTarget, SOCKET_LIMITS, type SocketLimits } from './pod-socket.ts'
import { type StartStatus, startStatus } from './start-status.ts'
import { readCommandStatus } from './status.ts'
import { toUnreachable } from './unreachable.ts'

/** A container of a Pod, and the streams of a program in it. */
interface StreamTarget {
  readonly pod: string
  readonly namespace: string
  readonly container: string
  /** True to send input to the program; otherwise its input is closed. */
  readonly stdin: boolean
  /** Size of the program's terminal; absent for no terminal. A terminal combines standard output and standard error. */
  readonly tty?: { readonly columns: number; readonly rows: number }
}

/** A command to run in a container of a Pod. */
export interface ExecTarget extends StreamTarget {
  /** Program and its arguments; no shell is added. */
  readonly command: readonly string[]
}

/** The running main program of a container. */
export type AttachTarget = StreamTarget

/**
 * A command that runs in a container. stdout and stderr share a connection, so read both: if one is full, it blocks the
 * other. A command that closes its stdout while it reads, such as `exec cat >file`, loses input (seen with containerd
 * 1.6); a shell around it keeps stdout open.
 */
export interface ExecProcess {
  /**
   * Input of the command. `end()` closes the input, but not with a terminal, and not on a server that only supports
   * protocol v4.
   */
  readonly stdin: Writable
  readonly stdout: Readable
  /** Error output of the command; empty with a terminal. */
  readonly stderr: Readable
  /** True if the server can close the input of a command; false on a server that only supports protocol v4. */
  readonly endsInput: boolean
  resize(columns: number, rows: number): void
  /**
   * Exit status: above 128 for a signal. Rejects with a StartError if the program does not exist or is not
   * executable, and with a ClusterError if the command cannot be started or the connection is lost. Some output may
   * still be unread.
   */
  readonly exit: Promise<number>
  /** Closes the connection. The process keeps running, because Kubernetes does not end it. */
  destroy(): void
}

/** Error of a program that cannot be started. */
export class StartError extends ClusterError {
  readonly exitStatus: StartStatus

  constructor(exitStatus: StartStatus, message: string) {
    super(exitStatus === 127 ? 'not-found' : 'invalid', message)
    this.exitStatus = exitStatus
  }
}

const STDIN = 0
const STDOUT = 1
const STDERR = 2
const STATUS = 3
const RESIZE = 4
/** Channel of protocol v5 that closes other channels: its message contains the number of the channel to close. */
const CLOSE = 255

const CLOSING_PROTOCOL = 'v5.channel.k8s.io'

/**
 * Runs a command in a container, through the API server. Rejects with a ClusterError if the server does not allow it.
 */
export function openExec(
  access: Access,
  target: ExecTarget,
  options: CallOptions = {},
  limits: Partial<SocketLimits> = {},
): Promise<ExecProcess> {
  const command = target.command.map(word => ['command', word] as const)
  const query = [...streamQuery(target), ...command]
  return openStreams(access, { ...target, subresource: 'exec', query }, target, options, limits)
}

/**
 * Connects to the main program of a container, through the API server. Output from before the connection is not
 * received. `exit` resolves with 0 when the program has ended; its exit status is in the status of the Pod. If the
 * container has `stdinOnce`, the end of the connection closes the input of the program. Rejects with a ClusterError if
 * the server refuses the connection or cannot be reached.
 */
export function openAttach(access: Access, target: AttachTarget, options: CallOptions = {}): Promise<ExecProcess> {
  const query = streamQuery(target)
  return openStreams(access, { ...target, subresource: 'attach', query }, { ...target, command: [] }, options, {})
}

function streamQuery({ container, stdin, tty }: StreamTarget): readonly (readonly [string, string])[] {
  return [
    ['container', container],
    ['stdin', String(stdin)],
    ['stdout', 'true'],
    // The API server refuses a separate stderr with a terminal.
    ['stderr', String(!tty)],
    ['tty', String(tty !== undefined)],
  ]
}

function openStreams(
  access: Access,
  socket: Omit<PodSocketTarget, 'protocols'>,
  target: ExecTarget,
  options: CallOptions,
  limits: Partial<SocketLimits>,
): Promise<ExecProcess> {
  return openPodSocket(
    access,
    { ...socket, protocols: [CLOSING_PROTOCOL, 'v4.channel.k8s.io'] },
    opened => new SocketProcess(opened, target),
    options,
    { ...SOCKET_LIMITS, ...limits },
  )
}

class SocketProcess implements ExecProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly exit: Promise<number>
  readonly endsInput: boolean
  readonly #socket: PodSocket
  readonly #target: ExecTarget
  readonly #full = new Set<Readable>()
  #isClosed = false
  #settle!: { resolve: (status: number) => void; reject: (error: unknown) => void }

  constructor(socket: PodSocket, target: ExecTarget) {
    this.#socket = socket
    this.#target = target
    this.endsInput = socket.protocol === CLOSING_PROTOCOL
    this.exit = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    // A caller that only reads the output gets the error from the stream.
    this.exit.catch(() => {})
    this.stdin = this.#input()
    this.stdout = this.#output()
    this.stderr = this.#output()
    if (target.tty) this.resize(target.tty.columns, target.tty.rows)
    socket.attach({ take: (channel, content) => this.#take(channel, content), end: error => this.#end(error) })
  }

  resize(columns: number, rows: number): void {
    if (!this.#target.tty) return
    this.#socket.send(RESIZE, Buffer.from(JSON.stringify({ Width: columns, Height: rows })), () => {})
  }

  destroy(): void {
    this.#socket.terminate(toUnreachable({ code: 'ECONNABORTED' }, this.#socket.server))
  }

  #input(): Writable {
    const stream = new Writable({
      write: (chunk: Buffer, _, done) => this.#socket.send(STDIN, chunk, done),
      final: done => {
        // The input of a terminal cannot be closed, and closing the channel loses output.
        if (this.#target.stdin && !this.#target.tty && this.endsInput)
          this.#socket.send(CLOSE, Buffer.from([STDIN]), () => done())
        else done()
      },
    })
    if (!this.#target.stdin) stream.end()
    // The command may end before it has read all of its input, which is not an error.
    return stream.on('error', () => {})
  }

  #output(): Readable {
    const stream: Readable = new Readable({
      read: () => {
        this.#full.delete(stream)
        if (this.#full.size === 0) this.#socket.resume()
      },
      destroy: (error, done) => {
        // Output that the caller no longer reads must not block the other output.
        this.#full.delete(stream)
        if (this.#full.size === 0) this.#socket.resume()
        done(error)
      },
    })
    return stream.on('error', () => {})
  }

  #take(channel: number, content: Buffer): void {
    if (channel === STDOUT) this.#push(this.stdout, content)
    else if (channel === STDERR) this.#push(this.stderr, content)
    else if (channel === STATUS) this.#finish(content.toString('utf8'))
  }

  #push(stream: Readable, content: Buffer): void {
    // An empty message opens a channel.
    if (content.length === 0 || stream.destroyed || stream.push(content)) return
    this.#full.add(stream)
    this.#socket.pause()
  }

  /** Settles `exit` with the status in the last message, and closes the connection. */
  #finish(text: string): void {
    try {
      this.#settle.resolve(statusOf(text, this.#target))
      this.#close(undefined)
    } catch (error) {
      this.#end(error as ClusterError)
    }
    this.#socket.terminate()
  }

  #end(error: Error | undefined): void {
    const reason = error ?? toUnreachable({ code: 'ECONNRESET' }, this.#socket.server)
    this.#settle.reject(reason)
    this.#close(reason)
  }

  #close(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const stream of [this.stdout, this.stderr]) {
      if (error) stream.destroy(error)
      else stream.push(null)
    }
    this.stdin.destroy()
  }
}

/** Returns the exit status in the last message; throws a ClusterError if the command did not run. */
function statusOf(text: string, { command, container, pod }: ExecTarget): number {
  const { hasSucceeded, message = '', reason, causes } = readCommandStatus(text)
  if (hasSucceeded) return 0
  const code = Number(causes.find(one => one.reason === 'ExitCode')?.message)
  if (reason === 'NonZeroExitCode' && Number.isInteger(code)) return code
  const where = `in container \`${container}\` of pod/${pod}`
  const status = startStatus(message)
  if (status === 127) throw new StartError(status, `\`${command[0]}\` does not exist ${where}`)
  if (status === 126) throw new StartError(status, `\`${command[0]}\` is not executable ${where}`)
  throw new ClusterError('unavailable', `pod/${pod}: ${message || 'the command ended without a status'}`)
}
