import type { ExecProcess } from '../../adapters/kubernetes/exec.ts'
import { ProgramError } from '../../compiler/diagnostics/user-error.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { type ContainerInput, findContainer } from '../workloads/find-container.ts'

export interface ExecServiceInput extends ContainerInput {
  /** Program and its arguments. */
  readonly command: readonly string[]
}

/** Terminal or streams that the command is connected to, such as a `RemoteTerminal`. */
export interface AttachedTerminal {
  /** Size of the terminal; undefined if input or output is not a terminal. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined
  /** Connects a process until it ends, and returns its exit status. */
  attach(process: ExecProcess): Promise<number>
}

/**
 * Runs a command in a container of a deployed service, and returns its exit status. Throws a UserError if no Pod of the
 * service runs, and a ProgramError if the program is missing from the image or is not executable.
 */
export async function execService(
  world: OperationContext & { readonly terminal: AttachedTerminal },
  { command, ...input }: ExecServiceInput,
  project: OpenProject,
): Promise<number> {
  const { session, terminal } = world
  const { access, namespace, signal } = session
  const { pod, container } = await findContainer(world, input, project)
  const { openExec, StartError } = await import('../../adapters/kubernetes/exec.ts')
  const { size } = terminal
  const target = { pod: pod.metadata.name, namespace, container, command, stdin: true, ...(size && { tty: size }) }
  const remote = await openExec(access, target, { signal })
  try {
    return await terminal.attach(remote)
  } catch (error) {
    if (error instanceof StartError) throw new ProgramError(error.exitStatus, error.message, { cause: error })
    throw error
  }
}
