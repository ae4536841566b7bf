import { scalars, textOf } from '../compose/read/tree-values.ts'
import type { MapTree } from '../text/tree.ts'
import { textsIn } from './variables.ts'

/** A variable as Compose or a shell refers to it: `$NAME`, `${NAME:-default}`, `${#NAME}`, `${!NAME}`. */
const REFERENCES = /\$(?:\{[#!]?)?([A-Za-z_][A-Za-z0-9_]*)/g

/**
 * Returns the names of the variables that a manifest names: in its list `variables`, and as references in its texts.
 * Its commands get no other variables from the platform or the cluster, because other users can set them there, and
 * some variables make programs run code.
 */
export function namedVariables(manifest: MapTree): ReadonlySet<string> {
  const listed = scalars(manifest, 'variables').map(one => textOf(one).value)
  const referred = [...textsIn(manifest)].flatMap(({ value }) =>
    [...value.matchAll(REFERENCES)].map(([, name]) => name!),
  )
  return new Set([...listed, ...referred])
}
