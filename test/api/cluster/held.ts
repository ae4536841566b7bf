import { eventually } from '../../support/cluster/cluster.ts'
import type { Project } from '../../support/cluster/project.ts'

const FINALIZER = 'example.com/hold'

/**
 * Deletes objects without waiting, and keeps them until `letGo`, like objects that a controller still has to clean up.
 */
export async function deleteHeld(project: Project, ...objects: readonly string[]): Promise<void> {
  for (const object of objects) {
    const { finalizers = [] } = (await project.get(object)).metadata as { readonly finalizers?: readonly string[] }
    await patch(project, object, [...finalizers, FINALIZER])
  }
  await project.kubectl('delete', '--wait=false', ...objects)
}

/**
 * Takes the finalizer away from objects. A controller may take its own away meanwhile: what has changed is read again.
 */
export async function letGo(project: Project, ...objects: readonly string[]): Promise<void> {
  for (const object of objects) {
    await eventually(`${object} is let go`, async () => {
      const { finalizers = [], resourceVersion } = (await project.get(object)).metadata as {
        readonly finalizers?: readonly string[]
        readonly resourceVersion: string
      }
      const others = finalizers.filter(name => name !== FINALIZER)
      try {
        await patch(project, object, others, resourceVersion)
        return true
      } catch (error) {
        if (!/the object has been modified/.test(String(error))) throw error
        return undefined
      }
    })
  }
}

const patch = (
  project: Project,
  object: string,
  finalizers: readonly string[],
  resourceVersion?: string,
): Promise<void> => project.patch(object, { metadata: { finalizers, resourceVersion } })
