import { openProject } from '../../../project/open-project.ts'
import type { Session } from '../../../project/session.ts'
import { workspaceOf } from '../../../project/workspace.ts'
import { makeFolder } from '../cli/folder.ts'
import type { MemoryCluster } from '../memory-cluster/memory-cluster.ts'
import { ENVIRONMENT, holder, NAMESPACE, never } from './deploying.ts'
import { FakeClock } from './fake-clock.ts'

/** Returns the world and the project of an operation on the environment of `deploying.ts`, without files. */
export async function operationOn(cluster: MemoryCluster) {
  const workspace = workspaceOf({ cwd: makeFolder({}), env: {} })
  const events: { readonly type: string; readonly text?: string }[] = []
  // The operations use no other fields of the session.
  const session = {
    cluster,
    namespace: NAMESPACE,
    signal: never,
    clock: new FakeClock(),
    holder: holder(),
    target: { context: 'kind-dev', namespace: NAMESPACE, stored: {} },
  } as unknown as Session
  const on = (event: { readonly type: string }) => void events.push(event)
  return { world: { workspace, session, on }, events, project: await openProject(workspace, {}), name: ENVIRONMENT }
}
