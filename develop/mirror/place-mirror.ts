import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { MIRROR_LABEL, UP_ANNOTATION } from '../../constructs/mirror/names.ts'
import type { MirrorObject } from '../../constructs/mirror/settings.ts'
import { applyToStay, deleteAndWait } from '../../environment/apply/removal.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { UP_MANAGER, type UpRecord, valueAt } from '../../environment/record/up-record.ts'
import type { Session } from '../../project/session.ts'

/**
 * Applies a mirror with a copy of the record, which identifies the mirror even after the application is deleted.
 * `found` is the object with the mirror's name, if it was just read. Replaces a mirror that belongs to a deleted
 * application or has another selector. Throws a UserError if an object with this name is not a mirror.
 */
export async function placeMirror(
  session: Session,
  wanted: MirrorObject,
  record: UpRecord,
  found?: { readonly there: KubeObject | undefined },
): Promise<KubeObject> {
  const { cluster, signal } = session
  const { there } = found ?? { there: await cluster.get({ ...wanted, ...wanted.metadata }, { signal }) }
  if (there) assertOwnMirror(there)
  if (there && !canBecome(there, wanted)) await deleteAndWait(cluster, there, 'Foreground', { signal })
  const annotations = { ...wanted.metadata.annotations, [UP_ANNOTATION]: JSON.stringify(record) }
  const object = { ...wanted, metadata: { ...wanted.metadata, annotations } } as KubeObject // it has an apiVersion and a name
  return applyToStay(cluster, object, { manager: UP_MANAGER, force: true, signal })
}

/** Throws a UserError if an object is not a mirror. */
export function assertOwnMirror(there: KubeObject): void {
  if (there.metadata.labels?.[MIRROR_LABEL] !== undefined) return
  throw new UserError(`\`${nameOf(there)}\` already exists and is not a mirror`, {
    hint: 'rename it, or the application: the mirror of an application has its name with `-dev`',
  })
}

function canBecome(there: KubeObject, wanted: MirrorObject): boolean {
  const owner = (object: KubeObject | MirrorObject) =>
    (object.metadata as KubeObject['metadata']).ownerReferences?.[0]?.uid
  const selector = (object: unknown) => sorted(valueAt(object, ['spec', 'selector', 'matchLabels']))
  return owner(there) === owner(wanted) && selector(there) === selector(wanted)
}

const sorted = (labels: unknown): string => JSON.stringify(Object.entries(labels ?? {}).sort())
