import type { Identity } from '../../schema/load-rules.ts'
import { get, type ScalarTree, type Tree } from '../../text/tree.ts'
import { parseVolume } from '../../values/volume.ts'

const text = (tree: Tree | undefined): string | undefined =>
  tree?.kind === 'scalar' && tree.type === 'string' ? (tree.value as string) : undefined

/**
 * Returns the identity of a scalar. A float and an integer of the same value differ, so that the float is not removed
 * as a duplicate before it is checked.
 */
const scalarIdentity = ({ type, value }: ScalarTree): string => (type === 'float' ? `float ${value}` : String(value))

/** Returns the name in `NAME=value`. */
export const name: Identity = item => text(item)?.split('=', 1)[0]
/** Returns the value of a scalar. */
export const scalar: Identity = item => (item.kind === 'scalar' ? scalarIdentity(item) : undefined)
/** Returns the path of an env file. */
export const envFile: Identity = item => text(item) ?? text(get(item, 'path'))
/** Returns the container path of a device. */
export const device: Identity = item => {
  const short = text(item)
  return short === undefined ? text(get(item, 'target')) : (short.split(':')[1] ?? short)
}
/** Returns the container path of a mount. */
export const mount: Identity = item => {
  const short = text(item)
  if (short === undefined) return text(get(item, 'target'))
  const parsed = parseVolume(short, () => true)
  return parsed.ok ? parsed.value.target : undefined
}
/**
 * Returns an identity rule for a config or secret: the path in the container, below `folder` unless the target is
 * absolute.
 */
export const file =
  (folder: string): Identity =>
  item => {
    const target = text(get(item, 'target'))
    // A relative target of a secret is below /run/secrets: `s` and `/run/secrets/s` are equal.
    if (target !== undefined) return folder && !target.startsWith('/') ? `${folder}/${target}` : target
    return `${folder}/${text(item) ?? text(get(item, 'source'))}`
  }
/** Returns the host address, published port, container port and protocol of a port. */
export const port: Identity = item => {
  if (item.kind === 'scalar') return scalarIdentity(item)
  const part = (key: string, otherwise: string) => {
    const value = get(item, key)
    return value?.kind === 'scalar' ? `${(value as ScalarTree).type === 'string' ? '' : '#'}${value.value}` : otherwise
  }
  return `${part('host_ip', '0.0.0.0')}:${part('published', '-')}:${part('target', '')}/${part('protocol', 'tcp')}`
}

/** Keeps the last of several items with the same identity, at the position of the first item. */
export function keepLast(items: readonly Tree[], identity: Identity): readonly Tree[] {
  const places = new Map<string, number>()
  const kept: Tree[] = []
  for (const item of items) {
    const key = identity(item)
    const place = key === undefined ? undefined : places.get(key)
    if (place === undefined) {
      if (key !== undefined) places.set(key, kept.length)
      kept.push(item)
    } else {
      const before = kept[place]!
      kept[place] = before === item ? item : { ...item, replaced: [before.span, ...(before.replaced ?? [])] }
    }
  }
  return kept.length === items.length ? items : kept
}

/** Keeps the last of several `NAME=value` items with the same name. */
export const keepLastByName = (items: readonly Tree[]): readonly Tree[] => keepLast(items, name)
