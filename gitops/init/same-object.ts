import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { folderOf } from '../agents/agents.ts'
import { idOf, objectsOf } from '../repository/manifest-files.ts'

/**
 * Throws a UserError if a file contains an object of the `wanted` file for another folder. A controller would have only
 * one of the two objects, and could delete what it applied for the other. Ignores files that cannot be read.
 */
export async function refuseSameObject(files: ReadonlyMap<string, string>, wanted: string): Promise<void> {
  const ours = await followedIn('wanted.yaml', wanted)
  for (const [file, text] of files)
    for (const [id, { name, path }] of await followedIn(file, text)) {
      const own = ours.get(id)?.path
      if (own === undefined || own === path) continue
      throw new UserError(`\`${file}\` has the object \`${name}\` for \`${path}\`, not for \`${own}\``, {
        hint: 'rename the application or the environment; for another cluster, choose another folder with `--into`',
      })
    }
}

/** An object of a controller, and the folder that the controller syncs with it. */
interface Followed {
  readonly name: string
  readonly path: string
}

async function followedIn(file: string, text: string): Promise<ReadonlyMap<string, Followed>> {
  try {
    const objects = await objectsOf(new Map([[file, text]]))
    return new Map(objects.flatMap(object => followed(object.metadata.name, object['spec'], idOf(object))))
  } catch (error) {
    if (error instanceof UserError) return new Map()
    throw error
  }
}

function followed(name: string, spec: unknown, id: string): readonly (readonly [string, Followed])[] {
  const { path, source } = (spec ?? {}) as { readonly path?: unknown; readonly source?: { readonly path?: unknown } }
  const found = path ?? source?.path
  return typeof found === 'string' ? [[id, { name, path: folderOf(found) || '.' }]] : []
}
