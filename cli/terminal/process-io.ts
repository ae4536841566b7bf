import { LIMITS, parseLimits } from '../../compiler/diagnostics/budget.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { askUntilInterrupted } from './interruption.ts'
import { type AskForText, type Choose, drawsOn, type Io, type Output } from './io.ts'
import { ownCommand } from './own-command.ts'

/** Returns the Io of this process. */
export function processIo(): Io {
  const { stderr, env } = process
  const choose: Choose = async (question, answers, takenBack) => {
    const { chooseOne } = await import('./prompt.ts')
    return askUntilInterrupted((interrupted, onLeave) => {
      const signal = AbortSignal.any([interrupted, ...(takenBack ? [takenBack] : [])])
      const end = { signal, isErased: takenBack !== undefined, onLeave }
      return chooseOne({ input: process.stdin, output: stderr }, question, answers, end)
    })
  }
  const typing =
    (kind: 'typeLine' | 'typeHidden'): AskForText =>
    async (question, signal) => {
      const { [kind]: type } = await import('./prompt.ts')
      const answer = await askUntilInterrupted((interrupted, onLeave) => {
        const end = { signal: AbortSignal.any([interrupted, ...(signal ? [signal] : [])]), onLeave }
        return type({ input: process.stdin, output: stderr }, question, end)
      })
      signal?.throwIfAborted()
      return answer
    }
  return {
    // Prompts need a terminal that can be drawn on. This is checked first, because Node loads the code for standard
    // input when `process.stdin` is first read.
    ...(drawsOn({ stderr: toOutput(stderr), env }) &&
      process.stdin.isTTY && { choose, ask: typing('typeLine'), askHidden: typing('typeHidden') }),
    stdout: toOutput(process.stdout),
    stderr: toOutput(process.stderr, true),
    readStdin,
    startAgain,
    rawStreams: () => process,
    env: process.env,
    get cwd() {
      return currentFolder()
    },
  }
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new UserError('the current folder no longer exists', { hint: 'change to another folder', cause })
  }
}

function toOutput(stream: NodeJS.WriteStream, isForMessages = false): Output {
  return {
    isForMessages,
    write: text => {
      stream.write(text)
    },
    // The listeners of start.ts report errors.
    writeBytes: part => new Promise(resolve => stream.write(part, () => resolve())),
    flushed: () => new Promise((resolve, reject) => stream.write('', error => (error ? reject(error) : resolve()))),
    get isTTY() {
      return stream.isTTY ?? false
    },
    // A pseudo-terminal whose size nobody has set reports 0.
    get columns() {
      return stream.columns || undefined
    },
    get rows() {
      return stream.rows || undefined
    },
  }
}

async function startAgain(words: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const own = ownCommand()
  if (own === undefined) return
  const { spawn } = await import('node:child_process')
  const started = spawn(own.command, [...own.args, ...words], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env: { ...process.env, ...env },
  })
  started.on('error', () => {})
  started.unref()
}

async function readStdin(): Promise<Uint8Array> {
  const most = parseLimits(process.env.DEVCTL_LIMITS ?? '').limits.bytes ?? LIMITS.bytes.most
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    length += chunk.length
    if (length > most)
      throw new UserError(`standard input has more than ${most.toLocaleString('en')} bytes`, {
        hint: 'if this is intended, raise the limit: `DEVCTL_LIMITS=bytes=NUMBER`',
      })
  }
  return Buffer.concat(chunks)
}
