import type { At } from '../../text/source.ts'
import type { Tree } from '../../text/tree.ts'
import { parseDuration } from '../../values/numbers/duration.ts'
import type { Duration } from '../project.ts'
import { scalar } from './tree-values.ts'

/** Reads the duration at a path of keys. Returns undefined if it is absent, or invalid (the loader reports that). */
export function readDuration(tree: Tree | undefined, ...path: readonly string[]): At<Duration> | undefined {
  const found = scalar(tree, ...path)
  const nanoseconds = found && parseDuration(String(found.value), { unitless: 'seconds' })
  if (!found || !nanoseconds?.ok) return undefined
  return { value: { milliseconds: Number(nanoseconds.value) / 1e6 }, span: found.span }
}
