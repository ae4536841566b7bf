import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { ModelPath } from '../../../schema/model-path.ts'
import { record, type Shape, text } from '../../../schema/shape.ts'
import type { MapTree } from '../../../text/tree.ts'
import type { FieldMap } from '../../../values/kubernetes/fields.ts'
import { entries } from '../tree-values.ts'
import { apiShape } from './api-shape.ts'
import { readFields } from './fields.ts'
import { isOwnLabel, ownLabel } from './own-labels.ts'

/** Fields that `x-kubernetes` adds to an object. */
export interface ReadPiece {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** The other fields, if there are any. */
  readonly fields?: FieldMap
}

/**
 * Checks the fields of a part of an object against its type in the Kubernetes API; `labels` and `annotations` belong to
 * its metadata. A container has none. Reports errors, and then returns undefined.
 */
export function readPiece(tree: MapTree, type: string, path: ModelPath, reporter: Reporter): ReadPiece | undefined {
  const shape = type === 'Container' ? apiShape(type, 'part') : withMetadata(type)
  const json = readFields(tree, shape, path, reporter)
  if (!json) return undefined
  if (type === 'Container') return { fields: json }
  const own = [...entries(tree, 'labels')].filter(([label]) => isOwnLabel(label))
  for (const [label, { key }] of own) reporter.report(ownLabel, key, { label })
  if (own.length > 0) return undefined
  // The shape has checked that both are mappings of text.
  const { labels, annotations, ...fields } = json as { labels?: Record<string, string> } & FieldMap
  return {
    ...(labels && { labels }),
    ...(annotations && { annotations: annotations as unknown as Record<string, string> }),
    ...(Object.keys(fields).length > 0 && { fields }),
  }
}

function withMetadata(type: string): Shape {
  const known = shapes.get(type)
  if (known) return known
  const { map } = apiShape(type, 'part')
  const shape: Shape = { map: { ...map!, keys: { labels: record(text()), annotations: record(text()), ...map!.keys } } }
  shapes.set(type, shape)
  return shape
}

const shapes = new Map<string, Shape>()
