import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Identity } from '../../../schema/load-rules.ts'
import { get, isSeq, type MapTree, type ScalarTree, type Tree } from '../../../text/tree.ts'
import * as identity from '../../keys/identities.ts'
import { duplicateTarget } from '../../read/storage/mount-targets.ts'
import { servicesAndJobs } from '../service-sections.ts'

const LISTS: readonly (readonly [key: string, target: Identity])[] = [
  ['configs', identity.file('')],
  ['secrets', identity.file('/run/secrets')],
]

/**
 * Reports different configs or secrets that one list of a document mounts at the same path. Docker Compose keeps only
 * the last one. A mount in a later file, or in a service that extends another, is not reported, because it is meant to
 * replace the earlier mount.
 */
export function reportSharedTargets(document: MapTree, reporter: Reporter): void {
  // Several services may share a list through an anchor.
  const seen = new Set<Tree>()
  for (const [, service] of servicesAndJobs(document))
    for (const [key, target] of LISTS) {
      const list = get(service, key)
      if (!isSeq(list) || seen.has(list)) continue
      seen.add(list)
      reportShared(list.items, target, reporter)
    }
}

function reportShared(items: readonly Tree[], target: Identity, reporter: Reporter): void {
  const mounted = new Map<string, Tree>()
  for (const item of items) {
    const path = target(item)
    const other = path === undefined ? undefined : mounted.get(path)
    if (path !== undefined) mounted.set(path, item)
    if (path === undefined || !other || sourceOf(other) === sourceOf(item)) continue
    reporter.report(duplicateTarget, placeOf(item), { target: path }, [
      { span: placeOf(other), message: `\`${path}\` is mounted here` },
    ])
  }
}

const scalarOf = (item: Tree, key: string): ScalarTree | undefined => {
  const found = item.kind === 'scalar' ? item : get(item, key)
  return found?.kind === 'scalar' ? found : undefined
}

const sourceOf = (item: Tree) => scalarOf(item, 'source')?.value

const placeOf = (item: Tree) => (scalarOf(item, 'target') ?? scalarOf(item, 'source') ?? item).span
