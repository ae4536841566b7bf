import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { UP_ANNOTATION, UP_LABEL } from '../../constructs/mirror/names.ts'
import { SUSPEND, scalePath } from '../../environment/apply/suspend-fields.ts'
import { nameOf } from '../../environment/plan/desired-state.ts'
import { type FoundRecord, readUpRecord, valueAt } from '../../environment/record/up-record.ts'
import { patchOf } from './fields.ts'
import { scaleField } from './suspend-original.ts'

/** True if the mirror replaces exactly this application, compared by uid. */
export const replaces = (mirror: KubeObject, { metadata: { uid } }: KubeObject): boolean =>
  mirror.metadata.ownerReferences?.some(owner => owner.uid === uid) ?? false

/**
 * Returns the record from which an application is restored: the record in the application or, if this record was
 * corrupted or removed, the copy in the mirror. The kind `none` means that nothing has to be restored.
 */
export function knownRecord(live: KubeObject, mirror: KubeObject | undefined): FoundRecord {
  const own = readUpRecord(live)
  if (own.kind === 'record' || (own.kind === 'none' && !isAtRest(live))) return own
  const copy = readUpRecord(mirror)
  if (copy.kind === 'record' || own.kind === 'unreadable') return copy.kind === 'record' ? copy : own
  return live.metadata.labels?.[UP_LABEL] === undefined ? own : { kind: 'unreadable', problem: 'it is missing' }
}

/**
 * Returns the application `live` for use by `up`. If an earlier `up` has changed the application, the result contains a
 * readable record, if necessary the copy in the mirror. `mirror` is the object that has the name of the mirror. Throws
 * a UserError if the state before the earlier `up` is unknown, because the current state must not be recorded in its
 * place.
 */
export function withKnownRecord(live: KubeObject, mirror: KubeObject | undefined, namespace: string): KubeObject {
  const own = readUpRecord(live)
  if (own.kind === 'record' || (own.kind === 'none' && !isAtRest(live))) return live
  const found = knownRecord(live, mirror && replaces(mirror, live) ? mirror : undefined)
  if (found.kind === 'none') return live
  if (found.kind === 'unreadable') throw unreadableRecord(live, namespace, found.problem)
  const annotations = { ...live.metadata.annotations, [UP_ANNOTATION]: JSON.stringify(found.record) }
  return { ...live, metadata: { ...live.metadata, annotations } }
}

/** Returns the error for an application whose state before `up` is no longer known. */
export function unreadableRecord(live: KubeObject, namespace: string, problem: string): UserError {
  const path = scalePath(live.kind)
  const isSuspended = path === SUSPEND
  const patch = patchOf([
    { path: ['metadata', 'annotations', UP_ANNOTATION], value: null },
    { path: ['metadata', 'labels', UP_LABEL], value: null },
    { path, value: isSuspended ? false : 'NUMBER' },
  ])
  const text = JSON.stringify(patch).replace('"NUMBER"', 'NUMBER')
  const line = `\`kubectl -n ${namespace} patch ${nameOf(live)} --type merge -p '${text}'\``
  return new UserError(`what \`up\` has noted in \`${nameOf(live)}\` cannot be read: ${problem}`, {
    notes: [`the annotation is \`${UP_ANNOTATION}\`; no mirror has a copy of it; nothing was changed`],
    hint: isSuspended
      ? `let it run again with ${line}, then repeat the command`
      : `restore it with ${line}, with its number of Pods, then repeat the command`,
  })
}

function isAtRest(live: KubeObject): boolean {
  const { path, value } = scaleField(live)
  return valueAt(live, path) === value
}
