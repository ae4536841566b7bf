import type { ExecProcess } from '../../../adapters/kubernetes/exec.ts'
import type { FrontContainer } from '../container.ts'
import { FileCommandFailed } from './file-commands.ts'

/** Script that reads from an offset. */
const READ = 'exec "$0" dd if="$1" bs=65536 iflag=skip_bytes skip="$2" 2>/dev/null'
/**
 * Script that writes from an offset over existing content. The shell keeps running, because dd closes its output, and
 * Kubernetes would then end the input early.
 */
const WRITE = '"$0" dd of="$1" bs=65536 conv=notrunc iflag=fullblock oflag=seek_bytes seek="$2"; exit $?'
const APPEND = '"$0" cat >>"$1"; exit $?'

/**
 * An open file in the container. Clients usually read and write sequentially, so one program transfers the full file;
 * after a seek, another program is started.
 */
export class RemoteFile {
  readonly path: string
  readonly #container: FrontContainer
  readonly #signal: AbortSignal
  readonly #isAppended: boolean
  #last: Promise<unknown> = Promise.resolve()
  #reading: { readonly program: ExecProcess; readonly output: Output; at: number } | undefined
  #writing: { readonly program: ExecProcess; at: number; said: string } | undefined

  constructor(container: FrontContainer, path: string, isAppended: boolean, signal: AbortSignal) {
    this.#container = container
    this.path = path
    this.#isAppended = isAppended
    this.#signal = signal
  }

  /** Reads up to `length` bytes; returns no bytes at the end of the file. */
  read(offset: number, length: number): Promise<Buffer> {
    return this.#inOrder(async () => {
      await this.#endWriting()
      if (this.#reading?.at !== offset) {
        this.#reading?.program.destroy()
        const program = await this.#run(READ, offset, false)
        program.stderr.resume()
        this.#reading = { program, output: new Output(program), at: offset }
      }
      const bytes = await this.#reading.output.take(length)
      this.#reading.at += bytes.length
      return bytes
    })
  }

  /**
   * Writes bytes at an offset. Rejects with FileCommandFailed if the program has ended; an error of the disk may be
   * reported only by a later call.
   */
  write(offset: number, bytes: Buffer): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#writing?.at !== offset && !(this.#writing && this.#isAppended)) {
        await this.#endWriting()
        const program = await this.#run(this.#isAppended ? APPEND : WRITE, offset, true)
        const writing = { program, at: offset, said: '' }
        this.#writing = writing
        program.stdout.resume()
        program.stderr.setEncoding('utf8').on('data', (part: string) => {
          writing.said += part
        })
      }
      const writing = this.#writing!
      await new Promise<void>((resolve, reject) =>
        writing.program.stdin.write(bytes, error => (error ? reject(new FileCommandFailed(writing.said)) : resolve())),
      )
      writing.at += bytes.length
    })
  }

  /** Resolves once all written bytes are in the file. */
  settled(): Promise<void> {
    return this.#inOrder(() => this.#endWriting())
  }

  async close(): Promise<void> {
    this.#reading?.program.destroy()
    await this.settled()
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  async #endWriting(): Promise<void> {
    const writing = this.#writing
    this.#writing = undefined
    if (!writing) return
    writing.program.stdin.end()
    if ((await writing.program.exit) !== 0) throw new FileCommandFailed(writing.said.trim())
  }

  #run(script: string, offset: number, stdin: boolean): Promise<ExecProcess> {
    const { tool } = this.#container
    return this.#container.run([tool, 'sh', '-c', script, tool, this.path, String(offset)], { stdin }, this.#signal)
  }
}

/** Reads the output of a program in pieces of the requested size. */
class Output {
  readonly #program: ExecProcess
  #changed = () => {}

  constructor(program: ExecProcess) {
    this.#program = program
    // Attached only once, because each new `readable` listener would be called again for data that is already
    // available.
    for (const name of ['readable', 'end', 'close']) program.stdout.on(name, () => this.#changed())
  }

  /**
   * Returns the given number of bytes, or all remaining bytes. Rejects with FileCommandFailed if the program failed.
   */
  async take(length: number): Promise<Buffer> {
    // A stream returns null for no bytes, as if it had to wait for more.
    if (length === 0) return Buffer.alloc(0)
    const { stdout, exit } = this.#program
    for (;;) {
      const bytes: Buffer | null = stdout.read(length)
      if (bytes) return bytes
      if (stdout.readableEnded && (await exit) === 0) return Buffer.alloc(0)
      // A program that did not read to the end must not look like the end of the file.
      if (stdout.readableEnded || stdout.destroyed)
        throw new FileCommandFailed(`the program has ended with status ${await exit}`)
      await new Promise<void>(resolve => {
        this.#changed = resolve
      })
    }
  }
}
