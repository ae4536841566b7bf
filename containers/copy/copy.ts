import { resolve } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { type ContainerInput, findContainer } from '../workloads/find-container.ts'
import { copyIn } from './copy-in.ts'
import { copyOut } from './copy-out.ts'
import { type CopyPaths, parseCopyPaths } from './copy-path.ts'

export interface CopyInput extends Omit<ContainerInput, 'service'> {
  /** Source of the copy. Either the source or `target` has the form `SERVICE:PATH`. */
  readonly source: string
  readonly target: string
}

export interface CopyReport {
  /** Name of the Pod that files were copied from or to; `container` is the container in that Pod. */
  readonly pod: string
  readonly container: string
  /** Number of copied files and links; `bytes` is their total size. */
  readonly files: number
  readonly bytes: number
}

/**
 * Copies files and folders between this machine and a container of a deployed service. Links are copied as links. Links
 * of a container that lead outside the copied folder are skipped. Throws a UserError if a path does not exist.
 */
export async function copy(world: OperationContext, input: CopyInput, project: OpenProject): Promise<CopyReport> {
  const { workspace, session } = world
  const paths = parseCopyPaths(input.source, input.target)
  const found = await findContainer(world, { ...input, service: paths.service }, project)
  const at = { ...found, session }
  const path = resolve(workspace.cwd, paths.local)
  const counts = await transfer(world, paths, path, at).catch(refuseFile)
  return { pod: found.pod.metadata.name, container: found.container, ...counts }
}

function transfer(
  { on }: OperationContext,
  { direction, local, remote }: CopyPaths,
  path: string,
  at: Parameters<typeof copyIn>[0],
) {
  const skipped = (name: string, reason: string) => on({ type: 'warning', text: `\`${name}\` is left out: ${reason}` })
  if (direction === 'out') return copyOut(at, { source: remote, target: local, path, skipped })
  return copyIn(at, { source: local, path, target: remote, skipped })
}

/** Throws a UserError for a file of this machine that cannot be read or written. */
function refuseFile(error: unknown): never {
  const { code, path } = error as NodeJS.ErrnoException
  if (code === undefined || path === undefined || error instanceof UserError) throw error
  throw new UserError(`\`${path}\` cannot be read or written: ${code}`, { cause: error })
}
