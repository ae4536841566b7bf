import type { DevctlManifest } from '../../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../../compiler/plan/object-names.ts'
import { readRecord } from '../../environment/record/record.ts'
import { plainAddress } from '../../project/deploy-source.ts'
import { openProject } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { OperationContext } from '../../project/session.ts'
import { inClone, ownOptions, ownWorkspace } from '../deploy/dependencies.ts'
import type { DestroyEvent } from './events.ts'
import type { DestroyInput } from './input.ts'

/** Destroys one project; `above` are the repositories that depend on it. */
type DestroyProject = (
  world: OperationContext<DestroyEvent>,
  input: DestroyInput,
  project: OpenProject,
  target: { readonly environment: string; readonly above: readonly string[] },
) => Promise<unknown>

/**
 * Destroys the repositories that a manifest depends on, in reverse order, and each repository before its own
 * dependencies. Skips repositories that are not deployed in the namespace, and those in `above`, which are already
 * being destroyed.
 */
export async function destroyDependencies(
  world: OperationContext<DestroyEvent>,
  input: DestroyInput,
  { dependencies }: DevctlManifest,
  above: readonly string[],
  destroy: DestroyProject,
): Promise<void> {
  const { workspace, session } = world
  const { cluster, namespace, signal } = session
  for (const dependency of [...dependencies].reverse()) {
    const address = plainAddress(dependency.repository.value)
    const environment = toDnsLabel(dependency.name)
    if (above.includes(address) || !(await readRecord(cluster, environment, namespace, { signal }))) continue
    await inClone(world, dependency, async folder => {
      const inside = ownWorkspace(workspace, dependency, folder)
      const own = { ...ownOptions(input, dependency), services: [] }
      const project = await openProject(inside, own)
      await destroy({ ...world, workspace: inside }, own, project, { environment, above: [...above, address] })
    })
  }
}
