import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import type { ObjectDiff } from '../../environment/plan/diff.ts'
import { requireNamespace } from '../../project/namespaces.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { choicesOf } from '../deploy/compile-for-cluster.ts'
import type { DeployEvent } from '../deploy/events.ts'
import type { ForCluster } from '../deploy/input.ts'
import { compileWithStoredVariables } from '../deploy/stored-variables.ts'

/** Objects that differ, and the number of objects that do not. */
export interface Compared {
  /** Changes that a deploy would make, one per object. Secret values are masked. */
  readonly diffs: readonly ObjectDiff[]
  /** Number of objects that a deploy would leave unchanged. */
  readonly unchanged: number
}

export type DiffOutcome =
  /** The files have errors, which were reported. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  | (Compared & {
      readonly kind: 'compared'
      /** Services of the Compose file, from which differences get their positions. */
      readonly services: Tree | undefined
    })

/** Computes the changes that a deploy would make, without making them. Throws if the cluster rejects an object. */
export async function diff(
  world: OperationContext<DeployEvent>,
  input: ForCluster,
  project: OpenProject,
): Promise<DiffOutcome> {
  const { workspace, session } = world
  const { cluster, namespace, signal } = session
  const [{ planDeploy }, { diffOf }] = await Promise.all([
    import('../../environment/apply/deploy.ts'),
    import('../../environment/plan/diff.ts'),
  ])
  const { presentImagesOnly } = await import('../../builds/ensure-images.ts')
  const compiled = await compileWithStoredVariables(world, input, project, presentImagesOnly(world))
  if (compiled.plan) compiled.tell()
  if (!compiled.plan) return { kind: 'refused', diagnostics: compiled.diagnostics }
  await requireNamespace(session)
  const { plan, synth, services, source } = compiled
  const choices = choicesOf(input, compiled)
  const { changes } = await planDeploy({ cluster, plan, synth, namespace, source, choices }, { signal })
  const unchanged = [...changes.steps.values()].filter(({ action }) => action === 'unchanged').length
  return { kind: 'compared', diffs: diffOf(changes, workspace.secrets), unchanged, services }
}
