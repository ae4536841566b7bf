import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Duration, Pair, Words } from '../project.ts'
import type { ReadContext } from './context.ts'
import { readDuration } from './durations.ts'
import * as values from './tree-values.ts'

// Readers for keys with plain values, which need no parsing.

/** Reads text. Returns undefined if the text is empty, for example because a variable is not set. */
export const text = (service: MapTree, _: ReadContext, key: string): At<string> | undefined =>
  values.nonEmptyText(service, key)

/** Reads a boolean; undefined if absent. */
export const flag = (service: MapTree, _: ReadContext, key: string): At<boolean> | undefined =>
  values.flag(service, key)

/** Reads a boolean that is false by default. */
export const flagOrFalse = (service: MapTree, _: ReadContext, key: string): boolean =>
  values.flag(service, key)?.value ?? false

/** Reads a boolean that is true by default. */
export const flagOrTrue = (service: MapTree, _: ReadContext, key: string): boolean =>
  values.flag(service, key)?.value ?? true

/** Reads a list of text. */
export const texts = (service: MapTree, _: ReadContext, key: string): readonly At<string>[] => values.list(service, key)

/** Reads a command as a list of arguments; undefined if there is no list. */
export const words = (service: MapTree, _: ReadContext, key: string): Words | undefined => values.words(service, key)

/** Reads a duration; undefined if it is absent or invalid (the loader reports that). */
export const duration = (service: MapTree, _: ReadContext, key: string): At<Duration> | undefined =>
  readDuration(service, key)

/** Reads a mapping of names to texts as pairs, sorted by name. A null value becomes empty text. */
export const pairs = (service: MapTree, _: ReadContext, key: string): readonly Pair[] =>
  values.pairs(service, [key], '')
