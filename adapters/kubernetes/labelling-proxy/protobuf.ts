import { type ObjectLabels, originAnnotations } from './label-object.ts'
import { ENVIRONMENT_LABEL } from './labels.ts'

/** Prefix of every object in protobuf encoding. */
const MAGIC = Buffer.from('k8s\0')

/** Field numbers in the `generated.proto` files of the Kubernetes API; they never change. */
const UNKNOWN = { typeMeta: 1, raw: 2 }
const TYPE_META = { apiVersion: 1, kind: 2 }
const METADATA = 1
const META = { labels: 11, annotations: 12 }
const SPEC = 2
const TEMPLATE: Readonly<Record<string, readonly number[]>> = {
  Deployment: [SPEC, 3],
  StatefulSet: [SPEC, 3],
  DaemonSet: [SPEC, 2],
  ReplicaSet: [SPEC, 3],
  Job: [SPEC, 6],
  CronJob: [SPEC, 5, SPEC, 6],
}

/** Object in Kubernetes' protobuf encoding, which typed clients may send for built-in kinds. */
export interface BinaryObject {
  readonly apiVersion: string
  readonly kind: string
  readonly labels: ObjectLabels
  readonly content: Buffer
  /** Encoded fields of the message other than `content`. */
  readonly around: Buffer
}

/** Parses an object in protobuf encoding. Returns undefined for any other body. */
export function parseBinary(body: Buffer): BinaryObject | undefined {
  if (!body.subarray(0, 4).equals(MAGIC)) return undefined
  try {
    const fields = [...read(body.subarray(4))]
    const type = lastOf(fields, UNKNOWN.typeMeta)
    const content = lastOf(fields, UNKNOWN.raw)
    if (type === undefined || content === undefined) return undefined
    const text = (number: number) => lastOf([...read(type)], number)?.toString('utf8') ?? ''
    const around = Buffer.concat(fields.filter(({ number }) => number !== UNKNOWN.raw).map(({ whole }) => whole))
    return {
      apiVersion: text(TYPE_META.apiVersion),
      kind: text(TYPE_META.kind),
      labels: readLabels(content),
      content,
      around,
    }
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Adds the labels and the origin annotation to an object, and the environment's label to its Pod template, without
 * decoding the rest. When a protobuf message occurs twice, the second is merged into the first, so the additions are
 * appended at the end.
 */
export function labelBinary(
  { kind, content, around }: BinaryObject,
  labels: ObjectLabels,
  hasTemplate: boolean,
): Buffer {
  const metadata = field(METADATA, entries(META.labels, labels), entries(META.annotations, originAnnotations))
  const ofPods = field(METADATA, entries(META.labels, { [ENVIRONMENT_LABEL]: labels[ENVIRONMENT_LABEL]! }))
  const path = hasTemplate ? TEMPLATE[kind] : undefined
  const template = path ? [...path].reverse().reduce((inner, number) => field(number, inner), ofPods) : Buffer.alloc(0)
  return Buffer.concat([MAGIC, around, field(UNKNOWN.raw, content, metadata, template)])
}

function readLabels(content: Buffer): ObjectLabels {
  const labels: Record<string, string> = {}
  for (const { number, value } of read(content))
    if (number === METADATA)
      for (const entry of read(value))
        if (entry.number === META.labels) {
          const pair = [...read(entry.value)]
          labels[lastOf(pair, 1)?.toString('utf8') ?? ''] = lastOf(pair, 2)?.toString('utf8') ?? ''
        }
  return labels
}

interface Field {
  readonly number: number
  /** Bytes of the value; empty for numbers, which are not needed. */
  readonly value: Buffer
  /** Encoded field, with its tag and length. */
  readonly whole: Buffer
}

/** Yields the fields of a message. Throws a RangeError if the message is truncated. */
function* read(message: Buffer): Generator<Field> {
  for (let at = 0; at < message.length; ) {
    const start = at
    const varint = (): number => {
      let number = 0
      for (let shift = 0; ; shift += 7) {
        const byte = message[at++]
        if (byte === undefined || shift > 63) throw new RangeError('no end of a number')
        // Values above 2^32 may be inexact: they are only skipped.
        number += (byte & 0x7f) * 2 ** shift
        if (byte < 0x80) return number
      }
    }
    const tag = varint()
    const kind = tag % 8
    let value: Buffer = Buffer.alloc(0)
    if (kind === 0) varint()
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else if (kind === 2) {
      const length = varint()
      value = message.subarray(at, at + length)
      at += length
    } else throw new RangeError('not a field')
    if (at > message.length) throw new RangeError('no end of a field')
    yield { number: Math.floor(tag / 8), value, whole: message.subarray(start, at) }
  }
}

const lastOf = (fields: readonly Field[], number: number) => fields.findLast(one => one.number === number)?.value

function entries(number: number, texts: ObjectLabels): Buffer {
  return Buffer.concat(
    Object.entries(texts).map(([name, text]) =>
      field(number, field(1, Buffer.from(name)), field(2, Buffer.from(text))),
    ),
  )
}

function field(number: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([varint(number * 8 + 2), varint(content.length), content])
}

function varint(number: number): Buffer {
  const bytes: number[] = []
  for (let left = number; ; left = Math.floor(left / 128)) {
    if (left < 128) return Buffer.from([...bytes, left])
    bytes.push((left % 128) + 128)
  }
}
