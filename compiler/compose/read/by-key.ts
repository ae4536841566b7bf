import type { At } from '../../text/source.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Duration, Pair, Words } from '../project.ts'
import type { ReadContext } from './context.ts'
import { readDuration } from './durations.ts'
import * as values from './tree-values.ts'

// Readers of keys whose value needs no more than its type.

/** Text; the empty one, as an unset variable leaves it, is absent. */
export const text = (service: MapTree, _: ReadContext, key: string): At<string> | undefined =>
  values.filledText(service, key)

export const flag = (service: MapTree, _: ReadContext, key: string): At<boolean> | undefined =>
  values.flag(service, key)

/** A switch that is off unless it is on. */
export const isOn = (service: MapTree, _: ReadContext, key: string): boolean =>
  values.flag(service, key)?.value ?? false

/** A switch that is on unless it is off. */
export const isNotOff = (service: MapTree, _: ReadContext, key: string): boolean =>
  values.flag(service, key)?.value ?? true

export const texts = (service: MapTree, _: ReadContext, key: string): readonly At<string>[] => values.list(service, key)

/** Words; an empty list is not the same as none. */
export const words = (service: MapTree, _: ReadContext, key: string): Words | undefined => values.words(service, key)

export const duration = (service: MapTree, _: ReadContext, key: string): At<Duration> | undefined =>
  readDuration(service, key)

/** `NAME: value`, sorted by name; nothing is the empty text. */
export const pairs = (service: MapTree, _: ReadContext, key: string): readonly Pair[] =>
  values.pairs(service, [key], '')

export const mapping = (service: MapTree, _: ReadContext, key: string): MapTree | undefined => values.map(service, key)
