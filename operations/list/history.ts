import type { ChangeList } from '../../environment/record/change-lists.ts'
import type { LoadInput } from '../../project/input.ts'
import { findName } from '../../project/known-environment.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'

export interface HistoryInput extends LoadInput {
  /** Name of the environment. If absent, the name in the files. */
  readonly name?: string | undefined
}

export interface HistoryOutcome {
  /** Name of the environment, a DNS label. */
  readonly environment: string
  readonly namespace: string
  /** Last deploys that changed something, newest first. */
  readonly deploys: readonly ChangeList[]
  readonly isDeployed: boolean
  /** Time of the query, in milliseconds since 1970. */
  readonly now: number
}

/**
 * Returns the changes of the last deploys of an environment. The history is not tamper-proof: members of the namespace
 * can edit it.
 */
export async function history(
  world: OperationContext,
  input: HistoryInput,
  project: OpenProject,
): Promise<HistoryOutcome> {
  const { session } = world
  const { cluster, namespace, signal, clock } = session
  const environment = await findName(world, input, project)
  const [{ readRecord }, { readChangeLists }] = await Promise.all([
    import('../../environment/record/record.ts'),
    import('../../environment/record/change-lists.ts'),
  ])
  const record = await readRecord(cluster, environment, namespace, { signal })
  if (!record) await requireNamespace(session)
  return {
    environment,
    namespace,
    deploys: readChangeLists(record?.history),
    isDeployed: record !== undefined,
    now: clock.now(),
  }
}
