import type { Manifest } from '../../../constructs/manifest.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import { forControllers } from '../../agents/marks.ts'
import type { CompiledForRepository } from './compile-for-repository.ts'

/**
 * Returns the manifests with the annotations for controllers, and with the namespace and the sync waves that the
 * environment requests.
 */
export function forController(
  { plan, manifests }: Pick<CompiledForRepository, 'plan' | 'manifests'>,
  { environment, manifest }: OpenProject,
): readonly Manifest[] {
  const { namespace } = plan.environment
  const { createNamespace = false, syncWaves = false } = environment?.publish ?? {}
  return forControllers(manifests, {
    ...(syncWaves && { syncWaves: plan.workloads }),
    ...(createNamespace &&
      namespace !== undefined && {
        createNamespace: {
          name: namespace,
          level: plan.security.level,
          source: `${manifest!.shown}#environments.${environment!.key}.createNamespace`,
        },
      }),
  })
}
