import { parseImageReference } from '../../compiler/values/images/image-reference.ts'
import { askAll } from './ask-all.ts'
import { manifestAt } from './manifest-at.ts'
import { putManifest } from './manifest-calls.ts'
import { manifestAddressOf } from './registry-address.ts'
import { RegistryFailure, type RegistryProblem } from './registry-problem.ts'
import type { RegistrySession, RegistrySessionOptions } from './registry-session.ts'

/** A tag, and the image in the same repository that it should point to. */
export interface TagMove {
  /** Name in the form `REGISTRY/REPOSITORY:TAG`, without a digest. */
  readonly name: string
  readonly digest: string
}

/**
 * Points tags to images in their repositories: stores the manifest, or the index of a multi-platform image, under the
 * new tag without copying layers. Returns the problem for each name whose tag could not be moved. Throws a UserError if
 * the Docker configuration cannot be read, or the signal's abort reason.
 */
export async function moveTags(
  moves: readonly TagMove[],
  options: RegistrySessionOptions,
): Promise<ReadonlyMap<string, RegistryProblem>> {
  const results = await askAll(moves, options, problemOfMove)
  return new Map([...results].flatMap(([{ name }, problem]) => (problem ? [[name, problem] as const] : [])))
}

async function problemOfMove(
  { name, digest }: TagMove,
  session: RegistrySession,
): Promise<RegistryProblem | undefined> {
  const reference = parseImageReference(name)
  if (!reference.ok) return { kind: 'invalid', reason: reference.reason }
  const address = { ...manifestAddressOf(reference.value), access: 'push' } as const
  try {
    await putManifest(session, address, await manifestAt(session, address, digest), address.tag)
    return undefined
  } catch (error) {
    if (!(error instanceof RegistryFailure)) throw error
    return error.problem
  }
}
