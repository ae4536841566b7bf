import type { Severity } from '../diagnostics/diagnostic.ts'
import type { Loss, Row, Shape, ValuePredicate } from './shape.ts'

interface LossOptions {
  readonly why: string
  readonly hint?: string
  readonly family?: string
  readonly message?: string
  readonly says?: string
  readonly note?: string
  readonly severity?: Severity
  readonly harmless?: ValuePredicate
  readonly minor?: ValuePredicate
}

/** Returns the row of a key that Kubernetes supports. The planner reports values that are not supported. */
export const mapped = (shape: Shape, becomes: string, note?: string): Row => ({
  shape,
  fate: 'mapped',
  becomes,
  ...(note && { note }),
})

/** Returns the row of a key that Kubernetes supports. Values for which `harmless` is false are errors. */
export const mappedOrRefused = (
  shape: Shape,
  becomes: string,
  note: string,
  lost: LossOptions & { readonly hint: string; readonly harmless: ValuePredicate },
): Row => ({ ...mapped(shape, becomes, note), loss: loss(lost, 'error') })

/** Returns the row of a key that only devctl uses. The key does not appear in Kubernetes manifests. */
export const cli = (shape: Shape, becomes: string, note?: string): Row => ({
  shape,
  fate: 'cli',
  becomes,
  ...(note && { note }),
})

/**
 * Returns the row of a key that Kubernetes supports in part. With `lost`, every use is reported; without it, the
 * planner decides what to report.
 */
export const approximated = (shape: Shape, becomes: string, note: string, lost?: LossOptions): Row => ({
  shape,
  fate: 'approximated',
  becomes,
  note,
  ...(lost && { loss: loss(lost, 'warning') }),
})

/**
 * Returns the row of a key without a meaning in a cluster. The key is omitted with a warning, or with an info if
 * nothing is lost.
 */
export const none = (shape: Shape, lost: LossOptions): Row => ({
  shape,
  fate: 'none',
  becomes: '',
  note: lost.note ?? lost.why,
  loss: loss(lost, lost.severity ?? 'warning'),
})

/**
 * Returns the row of a key that changes the behavior of the application and that a cluster cannot provide. Its use is
 * an error.
 */
export const refused = (shape: Shape, lost: LossOptions & { readonly hint: string }): Row => ({
  shape,
  fate: 'refused',
  becomes: '',
  note: lost.note ?? lost.why,
  loss: loss(lost, 'error'),
})

/** Returns the row of a key without a meaning in a cluster. The key is omitted, and the planner reports it. */
export const unusable = (shape: Shape, note: string): Row => ({ shape, fate: 'none', becomes: '', note })

/** True if a key has a row. A key with only a shape is supported as its parent key is. */
export const isRow = (field: Row | Shape): field is Row => 'fate' in field

/** Returns the shape of a row, or the shape itself. */
export const shapeOf = (field: Row | Shape): Shape => (isRow(field) ? field.shape : field)

// `lossKinds` replaces an empty family with the name of the key.
const loss = (lost: LossOptions, severity: Severity): Loss => ({
  family: lost.family ?? '',
  severity,
  why: lost.why,
  ...(lost.message !== undefined && { message: lost.message }),
  ...(lost.says !== undefined && { says: lost.says }),
  ...(lost.hint !== undefined && { hint: lost.hint }),
  ...(lost.harmless && { harmless: lost.harmless }),
  ...(lost.minor && { minor: lost.minor }),
})
