import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Duration, Pair, Words } from '../project.ts'
import type { ReadContext } from './context.ts'
import { readDuration } from './durations.ts'
import * as values from './tree-values.ts'

// Readers for keys with plain values, which need no further parsing.

/** Text; undefined if it is empty, as an unset variable leaves it. */
export const text = (service: MapTree, _: ReadContext, key: string): At<string> | undefined =>
  values.nonEmptyText(service, key)

/** A boolean; undefined if absent. */
export const flag = (service: MapTree, _: ReadContext, key: string): At<boolean> | undefined =>
  values.flag(service, key)

/** A boolean with the default false. */
export const flagOrFalse = (service: MapTree, _: ReadContext, key: string): boolean =>
  values.flag(service, key)?.value ?? false

/** A boolean with the default true. */
export const flagOrTrue = (service: MapTree, _: ReadContext, key: string): boolean =>
  values.flag(service, key)?.value ?? true

/** A list of text. */
export const texts = (service: MapTree, _: ReadContext, key: string): readonly At<string>[] => values.list(service, key)

/** A list of words; undefined if there is no list. */
export const words = (service: MapTree, _: ReadContext, key: string): Words | undefined => values.words(service, key)

/** A duration. */
export const duration = (service: MapTree, _: ReadContext, key: string): At<Duration> | undefined =>
  readDuration(service, key)

/** A mapping of text, sorted by name; null becomes empty text. */
export const pairs = (service: MapTree, _: ReadContext, key: string): readonly Pair[] =>
  values.pairs(service, [key], '')
