import { randomBytes } from 'node:crypto'
import { PassThrough, type Readable, Transform, Writable } from 'node:stream'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'

// A command may end before it has read all its input. Because nothing reads the rest, the API server then loses the
// exit status or hangs (seen with Kubernetes 1.34; kubectl returns 0 or hangs). Therefore the shell that runs the
// command reports the end on standard error, and reads the remaining input until this side has stopped sending.

/**
 * Time that the shell keeps reading its input after the announcement, in seconds. `GRACE` is the time without output
 * after which this process closes the connection, in milliseconds.
 */
const READING = 10
const GRACE = 3000
/** Time used instead of `GRACE` if the server cannot end the input of the process, in milliseconds. */
const SHORT_GRACE = 300

const NUL = '\0'
const MARK = Buffer.from(`${NUL}devctl:${randomBytes(6).toString('hex')} `)

/**
 * Returns the script that a shell runs after its command to announce the end; `withAnnouncedEnd` reads the announcement
 * in this process.
 */
export const announceEnd = (tool: string): string => {
  const mark = MARK.toString().replace(NUL, '\\000')
  return `status=$?; ${tool} printf '${mark}%s\\000' "$status" >&2; ${tool} timeout ${READING} ${tool} cat >/dev/null 2>&1; exit "$status"`
}

/**
 * Wraps a process whose shell announces the end of its command. The returned process ends with the announcement,
 * whatever happens to the connection.
 */
export function withAnnouncedEnd(remote: ExecProcess): ExecProcess {
  let status: number | undefined
  let late: NodeJS.Timeout | undefined
  const announced = (found: number) => {
    status = found
    remote.stdin.end()
    late = setTimeout(() => remote.destroy(), remote.endsInput ? GRACE : SHORT_GRACE)
  }
  const stdin = new Writable({
    // Input that arrives after the end of the command is discarded.
    write: (chunk, encoding, done) => {
      if (status === undefined) remote.stdin.write(chunk, encoding, () => done())
      else done()
    },
    final: done => {
      remote.stdin.end()
      done()
    },
  })
  remote.stdin.once('close', () => stdin.destroy())
  const passed = <To extends Writable & Readable>(from: Readable, to: To): To => {
    from.on('data', () => late?.refresh())
    from.once('error', error => (status === undefined ? to.destroy(error) : to.end()))
    from.pipe(to)
    return to.on('error', () => {})
  }
  const exit = remote.exit.catch((error: unknown) => {
    if (status === undefined) throw error
    return status
  })
  exit.catch(() => {})
  void remote.exit.finally(() => clearTimeout(late)).catch(() => {})
  return {
    stdin: stdin.on('error', () => {}),
    stdout: passed(remote.stdout, new PassThrough()),
    stderr: passed(remote.stderr, new MarkFinder(announced)),
    endsInput: remote.endsInput,
    resize: (columns, rows) => remote.resize(columns, rows),
    exit,
    destroy: () => remote.destroy(),
  }
}

/**
 * Removes the announcement of the end, a mark followed by an exit status, from a stream of bytes, and reports the exit
 * status.
 */
class MarkFinder extends Transform {
  #held: Buffer = Buffer.alloc(0)
  readonly #found: (status: number) => void

  constructor(found: (status: number) => void) {
    super()
    this.#found = found
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    const bytes = Buffer.concat([this.#held, chunk])
    const at = markIn(bytes)
    const end = at === undefined ? -1 : bytes.indexOf(NUL, at + MARK.length)
    this.#held = at === undefined || end >= 0 ? Buffer.alloc(0) : bytes.subarray(at)
    this.push(at === undefined ? bytes : bytes.subarray(0, at))
    if (at !== undefined && end >= 0) {
      this.#found(Number(bytes.subarray(at + MARK.length, end).toString()))
      this.push(bytes.subarray(end + 1))
    }
    done()
  }

  override _flush(done: () => void): void {
    this.push(this.#held)
    done()
  }
}

/** Returns the position of the mark, or of a possible beginning of the mark at the end of the bytes. */
function markIn(bytes: Buffer): number | undefined {
  const whole = bytes.indexOf(MARK)
  if (whole >= 0) return whole
  const last = bytes.lastIndexOf(NUL)
  const isBegun = last >= 0 && bytes.length - last < MARK.length && MARK.indexOf(bytes.subarray(last)) === 0
  return isBegun ? last : undefined
}
