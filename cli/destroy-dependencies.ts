import type { Manifest } from '../compiler/manifest/manifest.ts'
import { toDnsLabel } from '../compiler/plan/object-names.ts'
import { readRecord } from '../environment/record.ts'
import { inClone, ownOptions } from '../operations/deploy/dependencies.ts'
import { plainAddress } from '../operations/project/deploy-source.ts'
import { openProject } from '../operations/project/open-project.ts'
import type { OpenProject } from '../operations/project/opened-project.ts'
import type { Session } from '../operations/session.ts'
import type { Context } from './command.ts'
import type { DestroyValues } from './destroy-values.ts'
import type { Progress } from './progress/events.ts'

/** Destroys one project under its name, and gives the exit status. */
type DestroyProject = (
  context: Context,
  options: DestroyValues,
  project: OpenProject,
  name: string,
  session: Session,
  progress: Progress,
  above: readonly string[],
) => Promise<number>

/** Destroys the repositories that a manifest depends on, the last first and each before its own. Gives the status of the first that fails. */
export async function destroyDependencies(
  context: Context,
  options: DestroyValues,
  { dependencies }: Manifest,
  session: Session,
  progress: Progress,
  above: readonly string[],
  destroyProject: DestroyProject,
): Promise<number> {
  const { cluster, namespace, signal } = session
  for (const dependency of [...dependencies].reverse()) {
    const { name, repository } = dependency
    const address = plainAddress(repository.value)
    if (above.includes(address) || !(await readRecord(cluster, toDnsLabel(name), namespace, { signal }))) continue
    const status = await inClone({ workspace: context.io, session }, dependency, async folder => {
      const io = { ...context.io, cwd: folder }
      const own = { ...ownOptions(options, dependency), services: [] }
      const project = await openProject(io, own)
      return destroyProject({ ...context, io }, own, project, name, session, progress, [...above, address])
    })
    if (status !== 0) return status
  }
  return 0
}
