import type { Project } from './project.ts'

const FINALIZER = 'example.com/hold'

/** What somebody deletes without waiting, and what stays until it is let go: as what a controller still has to clean up. */
export async function deleteHeld(project: Project, ...objects: readonly string[]): Promise<void> {
  for (const object of objects) {
    const { finalizers = [] } = (await project.get(object)).metadata as { readonly finalizers?: readonly string[] }
    await patch(project, object, [...finalizers, FINALIZER])
  }
  await project.kubectl('delete', '--wait=false', ...objects)
}

/** Takes the finalizer away from objects. */
export async function letGo(project: Project, ...objects: readonly string[]): Promise<void> {
  for (const object of objects) {
    const { finalizers = [] } = (await project.get(object)).metadata as { readonly finalizers?: readonly string[] }
    await patch(
      project,
      object,
      finalizers.filter(name => name !== FINALIZER),
    )
  }
}

const patch = (project: Project, object: string, finalizers: readonly string[]): Promise<string> =>
  project.kubectl('patch', object, '--type=merge', '--patch', JSON.stringify({ metadata: { finalizers } }))
