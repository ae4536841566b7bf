import { flag, integer, keyValues, list, number, type Shape, text, textOrList } from '../../schema/shape.ts'
import { parseDuration } from '../../values/numbers/duration.ts'
import * as identity from './identities.ts'
import * as merge from './merge-rules.ts'
import * as print from './print.ts'

// Shapes that several keys share, with their loader rules.

/** Returns the shape of a boolean. Text is converted after variables are substituted. */
export const castFlag = (): Shape => ({ ...flag(), cast: 'boolean' })

/** Returns the shape of a whole number. Text is converted after variables are substituted. */
export const castInteger = (bounds?: Parameters<typeof integer>[0]): Shape => ({ ...integer(bounds), cast: 'integer' })

/** Returns the shape of a size in bytes, with or without a unit. */
export const size = (): Shape => ({ ...number(), print: print.bytes })

/** Returns the shape of a number of CPUs. */
export const cpus = (): Shape => ({ ...number(), print: print.cpus })

/** Returns the shape of a duration such as `1m30s`. */
export const duration = (): Shape => ({
  ...text({ hintForUnquoted: hintForSeconds }),
  print: print.optionalDuration,
})

/** Returns the hint for a duration without a unit. */
function hintForSeconds(number: string): string {
  const text = `${number}s`
  return /^\d/.test(number) && parseDuration(text).ok
    ? `write \`${text}\` for seconds`
    : 'write a number and a unit, such as `10s`'
}

/** Returns the shape of variables, as a mapping or a list of `NAME=value`. A name without `=` has the value null. */
export const variables = (): Shape => ({
  ...keyValues(),
  print: print.environment,
  merge: merge.pairs,
  identity: identity.name,
})

/** Returns the shape of labels, as a mapping or a list of `NAME=value`. A name without `=` has an empty value. */
export const labels = (): Shape => ({
  ...keyValues(),
  print: print.labels,
  merge: merge.pairs,
  identity: identity.name,
})

/** Returns the shape of labels whose names must not repeat in a list. */
export const uniqueLabels = (): Shape => ({
  ...keyValues({ unique: true }),
  print: print.labels,
  merge: merge.pairs,
})

/** Returns the shape of a list of text without duplicates. */
export const names = (): Shape => ({ ...list(text()), identity: identity.name })

/** Returns the shape of a user, with or without a group. */
export const user = (): Shape => text({ pattern: /^[^:]*(:[^:]*)?$/, like: '`USER` or `USER:GROUP`' })

/** Returns the shape of text or a list of text. Later files append to the list. */
export const addedTexts = (): Shape => ({ ...textOrList(), merge: merge.texts, identity: identity.name })
