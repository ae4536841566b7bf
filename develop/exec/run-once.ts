import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import type { Access } from '../../adapters/kubernetes/connection.ts'

/** A command without input, run in a container of a Pod. */
export interface OneCommand {
  readonly access: Access
  readonly namespace: string
  readonly pod: Pick<KubeObject, 'metadata'>
  readonly container: string
  readonly command: readonly string[]
}

/** Readers of the output of a command; output without a reader is discarded. */
export interface CommandReaders {
  readonly stdout?: (part: Buffer) => void
  readonly stderr?: (part: Buffer) => void
}

/** Runs a command as `runOnce` does, and passes on each line that it prints, without its newline. */
export async function runForLines(
  command: OneCommand,
  signal: AbortSignal,
  line: (text: string) => void,
): Promise<number> {
  const [out, err] = [lineReader(line), lineReader(line)]
  try {
    return await runOnce(command, signal, { stdout: out.take, stderr: err.take })
  } finally {
    for (const { end } of [out, err]) end()
  }
}

/**
 * Runs a command until it ends and returns its exit status. Rejects with a ClusterError, or with the signal's abort
 * reason.
 */
export async function runOnce(
  { access, namespace, pod, container, command }: OneCommand,
  signal: AbortSignal,
  { stdout = () => {}, stderr = () => {} }: CommandReaders = {},
): Promise<number> {
  const { openExec } = await import('../../adapters/kubernetes/exec.ts')
  const target = { pod: pod.metadata.name, namespace, container, command, stdin: false }
  const remote = await openExec(access, target, { signal })
  remote.stdout.on('data', stdout)
  remote.stderr.on('data', stderr)
  const passed = Promise.all([remote.stdout, remote.stderr].map(one => new Promise(end => one.once('close', end))))
  const status = await remote.exit
  await passed
  return status
}

/**
 * Splits output into lines and passes them on without their newlines. The output arrives in parts that may end within a
 * line or a character.
 */
export function lineReader(line: (text: string) => void): LineReader {
  const decoder = new TextDecoder()
  let begun = ''
  const end = () => {
    if (begun !== '') line(begun)
    begun = ''
  }
  return {
    take(part) {
      const lines = (begun + decoder.decode(part, { stream: true })).split('\n')
      begun = lines.pop() ?? ''
      for (const one of lines) line(one.replace(/\r$/, ''))
      if (begun.length > LONGEST_LINE) end()
    },
    end,
  }
}

/** Receives the output of a program as it arrives. */
interface LineReader {
  take(part: Buffer): void
  /** Passes on a last line that has no newline. */
  end(): void
}

/** Length in characters from which a line is passed on in pieces, so that memory stays bounded. */
const LONGEST_LINE = 32_768
