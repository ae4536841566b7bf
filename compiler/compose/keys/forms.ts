import { flag, integer, keyValues, list, number, type Shape, text, textOrList } from '../../schema/shape.ts'
import * as identity from './identities.ts'
import * as merge from './merge-rules.ts'
import * as print from './print.ts'

// Shapes that several keys have in common, with what the loader does with them.

/** A switch; text is converted when its variables are known. */
export const castFlag = (): Shape => ({ ...flag(), cast: 'boolean' })

/** A whole number; text is converted when its variables are known. */
export const castInteger = (bounds?: Parameters<typeof integer>[0]): Shape => ({ ...integer(bounds), cast: 'integer' })

/** A size in bytes, with or without a unit. */
export const size = (): Shape => ({ ...number(), print: print.bytes })

/** A number of CPUs. */
export const cpus = (): Shape => ({ ...number(), print: print.cpus })

/** A length of time, `1m30s`. */
export const duration = (): Shape => ({ ...text(), print: print.optionalDuration })

/** Variables, as a mapping or a list of `NAME=value`; a name alone has no value. */
export const variables = (): Shape => ({
  ...keyValues(),
  print: print.environment,
  merge: merge.pairs,
  identity: identity.name,
})

/** Labels, as a mapping or a list of `NAME=value`; a name alone has an empty value. */
export const labels = (): Shape => ({
  ...keyValues(),
  print: print.labels,
  merge: merge.pairs,
  identity: identity.name,
})

/** Labels that a list may have once only. */
export const uniqueLabels = (): Shape => ({
  ...keyValues({ unique: true }),
  print: print.labels,
  merge: merge.pairs,
})

/** A list in which the last of equal items counts. */
export const names = (): Shape => ({ ...list(text()), identity: identity.name })

/** Text or a list of it, to which later files add. */
export const addedTexts = (): Shape => ({ ...textOrList(), merge: merge.texts, identity: identity.name })
