import type { Severity } from '../diagnostics/diagnostic.ts'
import type { Judge, Loss, Row, Shape } from './shape.ts'

interface Lost {
  readonly why: string
  readonly hint?: string
  readonly family?: string
  readonly message?: string
  readonly says?: string
  readonly note?: string
  readonly severity?: Severity
  readonly harmless?: Judge
  readonly minor?: Judge
}

/** A key that Kubernetes has something for. What is lost for some values only, the planner reports. */
export const mapped = (shape: Shape, becomes: string, note?: string): Row => ({
  shape,
  fate: 'mapped',
  becomes,
  ...(note && { note }),
})

/** A key that devctl itself uses; no manifest has it. */
export const cli = (shape: Shape, becomes: string, note?: string): Row => ({
  shape,
  fate: 'cli',
  becomes,
  ...(note && { note }),
})

/** A key of which something is lost. With `lost` every use is reported, else the planner decides. */
export const approximated = (shape: Shape, becomes: string, note: string, lost?: Lost): Row => ({
  shape,
  fate: 'approximated',
  becomes,
  note,
  ...(lost && { loss: loss(lost, 'warning') }),
})

/** A key without a meaning in a cluster: it is left out with a warning, or an info where nothing is lost. */
export const none = (shape: Shape, lost: Lost): Row => ({
  shape,
  fate: 'none',
  becomes: '',
  note: lost.note ?? lost.why,
  loss: loss(lost, lost.severity ?? 'warning'),
})

/** A key that would give another application if it were left out: an error. */
export const refused = (shape: Shape, lost: Lost & { readonly hint: string }): Row => ({
  shape,
  fate: 'refused',
  becomes: '',
  note: lost.note ?? lost.why,
  loss: loss(lost, 'error'),
})

/** A key without a meaning that only the planner can judge: left out, and reported there. */
export const unusable = (shape: Shape, note: string): Row => ({ shape, fate: 'none', becomes: '', note })

/** Whether a field of a mapping has a row of its own; a bare shape goes the way of its parent. */
export const isRow = (field: Row | Shape): field is Row => 'fate' in field

export const shapeOf = (field: Row | Shape): Shape => (isRow(field) ? field.shape : field)

// An empty family is filled in with the key's own name when the table is read.
const loss = (lost: Lost, severity: Severity): Loss => ({
  family: lost.family ?? '',
  severity,
  why: lost.why,
  ...(lost.message !== undefined && { message: lost.message }),
  ...(lost.says !== undefined && { says: lost.says }),
  ...(lost.hint !== undefined && { hint: lost.hint }),
  ...(lost.harmless && { harmless: lost.harmless }),
  ...(lost.minor && { minor: lost.minor }),
})
