import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MESSAGES, type WireField } from '../../../../adapters/buildkit/messages.ts'
import { decodeMessage, encodeMessage } from '../../../../adapters/buildkit/wire.ts'
import { types } from './protobuf.ts'

const text = fc.string({ unit: 'binary' })
const bytes = fc.uint8Array().map(array => Buffer.from(array))
const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  int32: fc.nat(2 ** 31 - 1),
  int64: fc.maxSafeNat(),
  uint32: fc.nat(2 ** 32 - 1),
  bool: fc.boolean(),
  string: text,
  bytes,
}

/** Values of a message in which any field may be absent. */
const messageOf = (name: string): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(MESSAGES[name]!).map(([key, field]) => [key, fieldOf(field)])), {
    requiredKeys: [],
  })

function fieldOf({ type, isList, isMap }: WireField): fc.Arbitrary<unknown> {
  if (isMap)
    return fc.dictionary(
      text.filter(key => key !== '__proto__'),
      text,
    )
  const one = SCALARS[type] ?? messageOf(type)
  return isList ? fc.array(one, { maxLength: 3 }) : one
}

/** Decodes a message with protobufjs. */
const readByLibrary = (name: string, encoded: Uint8Array, options: { defaults?: boolean } = {}) =>
  types.lookupType(name).toObject(types.lookupType(name).decode(encoded), { longs: Number, bytes: Buffer, ...options })

test.each(Object.keys(MESSAGES))('%s is encoded and decoded as protobufjs does', name => {
  fc.assert(
    fc.property(messageOf(name), value => {
      const type = types.lookupType(name)
      const byLibrary = type.encode(type.fromObject(value)).finish()
      expect(decodeMessage(name, byLibrary)).toEqual(readByLibrary(name, byLibrary))
      // The library also writes values that are zero or empty, which makes no difference.
      const defaults = { defaults: true }
      const encoded = encodeMessage(name, value)
      expect(readByLibrary(name, encoded, defaults)).toEqual(readByLibrary(name, byLibrary, defaults))
    }),
    { seed: 1, numRuns: 50 },
  )
})

test('decodeMessage reads numbers with their signs', () => {
  const type = types.lookupType('google.protobuf.Timestamp')
  for (const seconds of [-1, -62_135_596_800, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER])
    for (const nanos of [-1, 1, -(2 ** 31)])
      expect(decodeMessage('google.protobuf.Timestamp', type.encode({ seconds, nanos }).finish())).toEqual({
        seconds,
        nanos,
      })
})

test('decodeMessage skips fields that the table does not have', () => {
  const others = [
    [0x98, 0x06, 0xff, 0x01],
    [0x99, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
    [0x9a, 0x06, 2, 1, 2],
    [0x9d, 0x06, 1, 2, 3, 4],
  ]
  for (const other of others) {
    const encoded = Buffer.concat([Buffer.from(other), encodeMessage('pb.Position', { line: 3 }), Buffer.from(other)])
    expect(decodeMessage('pb.Position', encoded)).toEqual({ line: 3 })
  }
})

test('decodeMessage refuses bytes that are not a message', () => {
  for (const encoded of [[0x0a], [0x0a, 5, 1], [0x08, ...Array(11).fill(0xff)], [0x0b], [0x19, 1], [0x0d, 1]])
    expect(() => decodeMessage('grpc.health.v1.HealthCheckRequest', Buffer.from(encoded))).toThrow()
})

test('decodeMessage reads random bytes or refuses them with one of its errors', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(MESSAGES)), fc.uint8Array({ maxLength: 60 }), (name, encoded) => {
      try {
        decodeMessage(name, encoded)
      } catch (error) {
        expect((error as Error).message).toMatch(/cut off|too long|another type|unknown type/)
      }
    }),
    { seed: 1, numRuns: 3000 },
  )
})
