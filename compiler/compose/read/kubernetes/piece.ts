import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { ModelPath } from '../../../schema/model-path.ts'
import { record, type Shape, text } from '../../../schema/shape.ts'
import type { MapTree } from '../../../text/tree.ts'
import type { FieldMap } from '../../../values/kubernetes/fields.ts'
import type { Pair } from '../../project.ts'
import { pairs } from '../tree-values.ts'
import { apiShape } from './api-shape.ts'
import { readFields } from './fields.ts'
import { checkInnerMetadata, checkMetadata } from './metadata.ts'

/** Fields that `x-kubernetes` adds to an object. */
export interface ReadPiece {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: readonly Pair[]
  /** All fields except `labels` and `annotations`; absent if there are none. */
  readonly fields?: FieldMap
}

/**
 * Checks the fields of a part of an object against its type in the Kubernetes API. `labels` and `annotations` are
 * fields of the object's metadata; a container has no metadata. Returns undefined if there are errors, which are
 * reported.
 */
export function readPiece(tree: MapTree, type: string, path: ModelPath, reporter: Reporter): ReadPiece | undefined {
  const shape = type === 'Container' ? apiShape(type, 'part') : withMetadata(type)
  const json = readFields(tree, shape, path, reporter)
  const isValid =
    json !== undefined && [checkMetadata(tree, reporter), checkInnerMetadata(tree, reporter)].every(Boolean)
  if (!json || !isValid) return undefined
  if (type === 'Container') return { fields: json }
  // The shape has checked that both are mappings of text.
  const { labels, annotations: _, ...fields } = json as { labels?: Record<string, string> } & FieldMap
  const annotations = pairs(tree, ['annotations'])
  return {
    ...(labels && { labels }),
    ...(annotations.length > 0 && { annotations }),
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
