import type { ApiObject } from 'cdk8s'
import type { ObjectPlan, PiecePlan, PodPlan } from '../compiler/plan/plan.ts'
import { type FieldMap, type FieldType, fieldsOf } from '../compiler/values/kubernetes/fields.ts'

type Json = Record<string, unknown>

/** Adds the fields of a piece, which come from `x-kubernetes`, to a rendered object. */
export function addPiece(object: Json, piece: PiecePlan | undefined): void {
  if (!piece) return
  const metadata = (object['metadata'] ?? {}) as Json // every object has one
  if (piece.labels) object['metadata'] = { ...metadata, labels: { ...(metadata['labels'] as object), ...piece.labels } }
  if (piece.spec) object['spec'] = mergeFields((object['spec'] ?? {}) as Json, piece.spec, piece.type)
}

/**
 * Changes a construct so that its rendered object contains the fields of the plan's piece, which come from
 * `x-kubernetes`. The fields are added after the patches of a cdk8s program.
 */
export function renderWithPiece(construct: ApiObject, { piece }: ObjectPlan): void {
  if (!piece) return
  const render = construct.toJson.bind(construct)
  construct.toJson = () => {
    const object = render()
    addPiece(object, piece)
    return object
  }
}

/** Fields that `x-kubernetes` adds to a Pod, to its containers (by the name of the container), and to its claims. */
export interface PodPieces {
  readonly pod?: FieldMap
  readonly containers: ReadonlyMap<string, FieldMap>
  /** Fields of claims that live as long as the Pod, by the name of the volume. */
  readonly claims: ReadonlyMap<string, PiecePlan>
}

/** Returns the fields that `x-kubernetes` adds to a Pod; undefined if there are none. */
export function podPieces({ fields, containers, init, volumes }: PodPlan): PodPieces | undefined {
  const own = [...containers, ...init].flatMap(one => (one.fields ? [[one.name, one.fields] as const] : []))
  const claims = volumes.flatMap(one =>
    one.kind === 'ephemeral' && one.spec.piece ? [[one.name, one.spec.piece] as const] : [],
  )
  if (!fields && own.length === 0 && claims.length === 0) return undefined
  return { ...(fields && { pod: fields }), containers: new Map(own), claims: new Map(claims) }
}

/** Adds the fields of a Pod and of its containers to the rendered template. */
export function addPodPieces(template: Json, { pod, containers, claims }: PodPieces): void {
  const spec = template['spec'] as Json // a rendered template has one
  for (const key of ['initContainers', 'containers'])
    if (Array.isArray(spec[key]))
      spec[key] = (spec[key] as Json[]).map(one => {
        const fields = containers.get(String(one['name']))
        return fields ? mergeFields(one, fields, 'Container') : one
      })
  for (const volume of claims.size > 0 ? (spec['volumes'] as Json[]) : []) {
    const { volumeClaimTemplate } = (volume['ephemeral'] ?? {}) as { volumeClaimTemplate?: Json }
    if (volumeClaimTemplate) addPiece(volumeClaimTemplate, claims.get(String(volume['name'])))
  }
  if (pod) template['spec'] = mergeFields(spec, pod, 'PodSpec')
}

/**
 * Merges fields into an object as Kubernetes' strategic merge does: objects and maps field by field, lists by their
 * merge key, and other lists as a whole.
 * https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export function mergeFields(base: Json, fields: FieldMap, type: string): Json {
  const known = fieldsOf(type)
  const merged = { ...base }
  for (const rival of rivalsOf(type, base, fields)) delete merged[rival]
  for (const [key, value] of Object.entries(fields)) merged[key] = mergeValue(merged[key], value, known?.get(key)?.type)
  return merged
}

/** Groups of fields that exclude each other, by the type of the object. */
const UNIONS: Readonly<Record<string, readonly string[]>> = {
  EnvVar: ['value', 'valueFrom'],
  LifecycleHandler: ['exec', 'httpGet', 'sleep', 'tcpSocket'],
  Probe: ['exec', 'grpc', 'httpGet', 'tcpSocket'],
}

/**
 * Returns the fields of `base` that must be removed because `fields` has another field of the same union. The sources
 * of a volume are a union, too.
 */
function rivalsOf(type: string, base: Json, fields: FieldMap): readonly string[] {
  const union = type === 'Volume' ? Object.keys({ ...base, ...fields }).filter(key => key !== 'name') : UNIONS[type]
  const isNew = (key: string) => Object.hasOwn(fields, key)
  return union?.some(isNew) ? union.filter(key => !isNew(key)) : []
}

function mergeValue(base: unknown, value: unknown, type: FieldType | undefined): unknown {
  if (base === undefined || base === null) return structuredClone(value)
  if (type?.kind === 'list' && type.key !== undefined && Array.isArray(base) && Array.isArray(value))
    return mergeLists(base, value, type.items, type.key)
  if (!isMap(base) || !isMap(value)) return structuredClone(value)
  if (type?.kind === 'object') return mergeFields(base, value as FieldMap, type.name)
  return { ...base, ...structuredClone(value) }
}

function mergeLists(base: readonly unknown[], added: readonly unknown[], items: FieldType, key: string): unknown[] {
  if (key === '*') return [...new Set([...base, ...added])]
  const keyOf = (item: unknown) => (isMap(item) ? item[key] : undefined)
  const merged = base.map(item => {
    const change = added.find(one => keyOf(one) === keyOf(item))
    return change === undefined ? item : mergeValue(item, change, items)
  })
  const known = new Set(base.map(keyOf))
  return [...merged, ...structuredClone(added.filter(one => !known.has(keyOf(one))))]
}

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
