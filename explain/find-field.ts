import { didYouMean } from '../compiler/diagnostics/suggest.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { type FieldKey, pathText } from '../environment/plan/comparison.ts'
import type { Influences, ShownObject } from './influences.ts'
import { membersOf } from './leaves.ts'
import type { FieldStep } from './target.ts'

/**
 * Returns the identity of an object. The name may omit the hash at its end. Throws a UserError if the object does not
 * exist, or if several objects match.
 */
export function findObject(kind: string, name: string, { objects }: Influences): string {
  const all = [...objects]
  const ofKind = all.filter(([, { manifest }]) => manifest.object.kind === kind)
  const exact = ofKind.find(([, { manifest }]) => manifest.object.metadata.name === name)
  const near = exact
    ? [exact]
    : ofKind.filter(
        ([, { manifest }]) => manifest.object.metadata.name.startsWith(`${name}-`) && isHashed(name, manifest),
      )
  if (near.length === 1) return near[0]![0]
  const wanted = `${kind.toLowerCase()}/${name}`
  const names = (near.length > 1 ? near : all).map(([, object]) => object.name)
  if (near.length > 1)
    throw new UserError(`\`${wanted}\` is ambiguous`, { hint: `write one of ${names.map(quoted).join(', ')}` })
  if (kind === 'Secret' && ofKind.length === 0)
    throw new UserError(`\`${wanted}\` does not exist`, { hint: 'Secrets need `--include-secrets`' })
  const other = all.find(([, { manifest }]) => manifest.object.metadata.name === name)
  throw new UserError(`\`${wanted}\` does not exist`, {
    hint: other
      ? `did you mean ${quoted(other[1].name)}?`
      : (didYouMean(wanted, names) ?? `the objects are ${names.map(quoted).join(', ')}`),
  })
}

const isHashed = (name: string, { object }: ShownObject['manifest']): boolean =>
  /^-[0-9a-f]{8}$/.test(object.metadata.name.slice(name.length))

const quoted = (name: string) => `\`${name}\``

/** Parts of objects in which a path may begin. */
const STARTS: readonly (readonly string[])[] = [
  [],
  ['spec'],
  ['spec', 'template', 'spec'],
  ['spec', 'template'],
  ['spec', 'jobTemplate', 'spec'],
  ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  ['spec', 'jobTemplate', 'spec', 'template'],
]

/**
 * Returns the keys of a path in an object. The path may also start in the spec or the Pod template. Throws a UserError
 * if the object has no such path.
 */
export function findField({ manifest, name }: ShownObject, steps: readonly FieldStep[]): readonly FieldKey[] {
  let furthest: Failure | undefined
  for (const start of STARTS) {
    const found = walk(manifest.object, [...start, ...steps])
    if ('keys' in found) return found.keys
    if (found.failed.length - start.length > (furthest?.depth ?? -1))
      furthest = { ...found, depth: found.failed.length - start.length }
  }
  const { failed, step, names } = furthest!
  const own = failed.length === 0 ? `\`${name}\`` : `\`${pathText(failed)}\` of \`${name}\``
  const hint = didYouMean(String(step), names) ?? (names.length > 0 ? `it has ${names.map(quoted).join(', ')}` : '')
  throw new UserError(`\`${step}\` does not exist in ${own}`, hint === '' ? {} : { hint })
}

interface Failure {
  readonly failed: readonly FieldKey[]
  readonly step: FieldStep
  readonly names: readonly string[]
  readonly depth: number
}

function walk(
  object: unknown,
  steps: readonly FieldStep[],
): { readonly keys: readonly FieldKey[] } | Omit<Failure, 'depth'> {
  let value = object
  const keys: FieldKey[] = []
  for (const step of steps) {
    const members = membersOf(value)
    const found = Array.isArray(value)
      ? members.find(
          ([key], index) => String(index) === String(step) || (typeof key === 'object' && key.item === String(step)),
        )
      : members.find(([key]) => key === String(step))
    if (!found)
      return { failed: keys, step, names: members.map(([key]) => (typeof key === 'object' ? key.item : String(key))) }
    keys.push(found[0])
    value = found[1]
  }
  return { keys }
}
