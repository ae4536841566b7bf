import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { ClusterError } from '../../adapters/kubernetes/cluster.ts'
import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { ServiceContainer } from '../../environment/status/service-pods.ts'
import type { Session } from '../../project/session.ts'

/** Maximum number of characters of a program's error output that are kept for messages. */
const MOST_TEXT = 2000
/** Time for a program to end after its streams have failed, in milliseconds. */
const ENDING = 1000

/** Container that files are copied from or to. */
export interface CopiedContainer extends ServiceContainer {
  readonly session: Pick<Session, 'access' | 'namespace' | 'signal'>
}

/** Exit status of a program in a container. `text` is the beginning of its error output. */
export interface RemoteEnd<Result> {
  readonly status: number
  readonly text: string
  /** Result of `work`; undefined if the program has failed. */
  readonly result: Result | undefined
}

/**
 * Runs a program in a container while `work` reads its output and writes its input. Returns undefined if the container
 * does not have the program. If `work` fails, waits `ENDING` for the exit status: returns it if it is not 0, because
 * the program has then failed itself, and otherwise throws the error of `work`.
 */
export async function runThere<Result>(
  { session, pod, container }: CopiedContainer,
  command: readonly string[],
  work: (remote: ExecProcess) => Promise<Result>,
): Promise<RemoteEnd<Result> | undefined> {
  const { access, namespace, signal } = session
  const { openExec } = await import('../../adapters/kubernetes/exec.ts')
  const target = { pod: pod.metadata.name, namespace, container, command, stdin: true }
  const remote = await openExec(access, target, { signal })
  let text = ''
  remote.stderr.on('data', (part: Buffer) => {
    text = (text + part.toString()).slice(0, MOST_TEXT)
  })
  try {
    const done = await work(remote).then(
      result => ({ result, error: undefined }),
      (error: unknown) => ({ result: undefined, error }),
    )
    if (done.error === undefined) return { status: await remote.exit, text, result: done.result }
    // A program without input or output may wait for them without end.
    const status = await Promise.race([remote.exit, pause(ENDING, undefined, { ref: false })])
    if (status === undefined || status === 0) throw done.error
    return { status, text, result: undefined }
  } catch (error) {
    if (error instanceof ClusterError && error.failure === 'not-found') return undefined
    throw error
  } finally {
    remote.destroy()
  }
}

/**
 * Writes all parts of a stream to the input of a program in a container, and closes the input. A program that has read
 * enough may end before its input is closed, which is no error.
 */
export async function sendAll(parts: AsyncIterable<Buffer>, remote: ExecProcess): Promise<void> {
  let isSent = false
  async function* all() {
    yield* parts
    isSent = true
  }
  remote.stdout.resume()
  await pipeline(Readable.from(all()), remote.stdin).catch((error: unknown) => {
    if (!isSent) throw error
  })
}

/**
 * Returns the error for a container without the programs that copying needs; `programs` names them, such as `` no `tar`
 * ``.
 */
export const lacksPrograms = (container: string, programs: string): UserError =>
  new UserError(`container \`${container}\` has ${programs}`, {
    hint: 'put the files into its image or a volume; `devctl up` synchronizes folders with any image',
  })

/**
 * Throws a UserError with the given message if a program has failed. The notes of the error contain the error output of
 * the program.
 */
export function requireSuccess({ status, text }: RemoteEnd<unknown>, message: string): void {
  if (status === 0) return
  const notes = text.trim() === '' ? [] : text.trim().split('\n').slice(0, 5)
  throw new UserError(message, { notes: [...notes, `exit status ${status}`] })
}
