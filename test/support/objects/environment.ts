import type { LoadInput } from '../../../project/input.ts'
import { openProject } from '../../../project/open-project.ts'
import type { Session } from '../../../project/session.ts'
import { workspaceOf } from '../../../project/workspace.ts'
import { makeFolder } from '../cli/folder.ts'
import type { MemoryCluster } from '../memory-cluster/memory-cluster.ts'
import { ENVIRONMENT, holder, NAMESPACE, never } from './deploying.ts'
import { FakeClock } from './fake-clock.ts'

interface OperationOptions {
  /** Files of the project, in a new folder. */
  readonly files?: Readonly<Record<string, string>>
  readonly input?: LoadInput
  readonly signal?: AbortSignal
}

/**
 * Returns the world and the project of an operation on the environment of `deploying.ts`. Only an operation with files
 * has the variables of this process, to find git and the shell.
 */
export async function operationOn(
  cluster: MemoryCluster,
  { files, input = {}, signal = never }: OperationOptions = {},
) {
  const workspace = workspaceOf({ cwd: makeFolder(files), env: files ? process.env : {} })
  const events: { readonly type: string; readonly text?: string }[] = []
  // The operations use no other fields of the session.
  const session = {
    cluster,
    access: { server: new URL('https://127.0.0.1:1'), url: 'https://127.0.0.1:1' },
    namespace: NAMESPACE,
    signal,
    clock: new FakeClock(),
    holder: holder(),
    target: { context: 'kind-dev', namespace: NAMESPACE, stored: {} },
  } as unknown as Session
  const on = (event: { readonly type: string }) => void events.push(event)
  return { world: { workspace, session, on }, events, project: await openProject(workspace, input), name: ENVIRONMENT }
}
