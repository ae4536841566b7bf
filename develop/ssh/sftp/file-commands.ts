import { randomBytes } from 'node:crypto'
import type { ExecProcess } from '../../../adapters/kubernetes/exec.ts'
import { commandsShell, type FrontContainer } from '../container.ts'

/** Error for a command that failed, with its output. */
export class FileCommandFailed extends Error {}

/** Quotes an argument for a shell. */
export const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`

/**
 * A shell in the container that runs one command after another, because a separate program for each command would need
 * its own connection. If the shell ends, as with its container, the next command starts another one.
 */
export class FileCommands {
  readonly #container: FrontContainer
  readonly #signal: AbortSignal
  /** Mark that ends the output of a command; it is random, so no file name contains it. */
  readonly #mark = randomBytes(16).toString('hex')
  #shell: Promise<ExecProcess> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #output = ''
  #arrived: (() => void) | undefined

  constructor(container: FrontContainer, signal: AbortSignal) {
    this.#container = container
    this.#signal = signal
  }

  /**
   * Runs a command, in which `$b` is busybox, and returns its output. Rejects with FileCommandFailed if its exit status
   * is not 0.
   */
  run(command: string): Promise<string> {
    const result = this.#last.then(() => this.#runNow(command))
    this.#last = result.catch(() => {})
    return result
  }

  async #runNow(command: string): Promise<string> {
    this.#shell ??= this.#keep(this.#start())
    const shell = await this.#shell
    // A command must not read the following commands as its input.
    shell.stdin.write(`{ ${command}\n} </dev/null 2>&1; printf '%s %s\\n' ${this.#mark} "$?"\n`)
    for (;;) {
      const end = new RegExp(`${this.#mark} (\\d+)\\n`).exec(this.#output)
      if (end) {
        const said = this.#output.slice(0, end.index)
        this.#output = this.#output.slice(end.index + end[0].length)
        if (end[1] !== '0') throw new FileCommandFailed(said.trim())
        return said
      }
      await this.#more(shell)
    }
  }

  /** Keeps a shell until it ends or fails to start, so that the next command starts another one. */
  #keep(started: Promise<ExecProcess>): Promise<ExecProcess> {
    const forget = () => {
      this.#shell = undefined
    }
    started.then(shell => shell.exit).then(forget, forget)
    return started
  }

  async #start(): Promise<ExecProcess> {
    const shell = await this.#container.run(commandsShell(this.#container), { stdin: true }, this.#signal)
    this.#output = ''
    shell.stderr.resume()
    shell.stdout.setEncoding('utf8').on('data', (part: string) => {
      this.#output += part
      this.#arrived?.()
    })
    return shell
  }

  #more(shell: ExecProcess): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#arrived = resolve
      shell.exit.then(() => reject(new FileCommandFailed('the shell in the container has ended')), reject)
    })
  }
}
