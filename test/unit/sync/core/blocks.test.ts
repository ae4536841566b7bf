import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BLOCK, Delta, type DeltaPart, decodeSums, encodeSums, weakSum } from '../../../../sync/core/blocks.ts'
import { measureProcessor } from '../../../support/processor-time.ts'

function blocksOf(bytes: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / BLOCK) }, (_, n) => bytes.subarray(n * BLOCK, (n + 1) * BLOCK))
}

function deltaOf(old: Buffer, now: Buffer, piece: number): readonly DeltaPart[] {
  const delta = new Delta(decodeSums(encodeSums(blocksOf(old))))
  const parts: DeltaPart[] = []
  for (let at = 0; at < now.length; at += piece) parts.push(...delta.push(now.subarray(at, at + piece)))
  return [...parts, ...delta.end()]
}

function rebuild(old: Buffer, parts: readonly DeltaPart[]): Buffer {
  return Buffer.concat(
    parts.map(part => (part.kind === 'copy' ? old.subarray(part.from, part.from + part.length) : part.bytes)),
  )
}

const literals = (parts: readonly DeltaPart[]): number =>
  parts.reduce((sum, part) => sum + (part.kind === 'bytes' ? part.bytes.length : 0), 0)

const old = randomBytes(12 * BLOCK + 777)

test('one changed byte costs one block', () => {
  const now = Buffer.from(old)
  now[5 * BLOCK + 10]! ^= 1
  const parts = deltaOf(old, now, 256 << 10)
  expect(rebuild(old, parts).equals(now)).toBe(true)
  expect(literals(parts)).toBeLessThanOrEqual(BLOCK + 777)
})

test('bytes that are inserted at the start move everything, and cost little', () => {
  const now = Buffer.concat([randomBytes(100), old])
  const parts = deltaOf(old, now, 256 << 10)
  expect(rebuild(old, parts).equals(now)).toBe(true)
  expect(literals(parts)).toBeLessThanOrEqual(100 + 777)
})

test('blocks of zeros are found after an inserted byte', () => {
  const zeros = Buffer.alloc(64 * BLOCK)
  const now = Buffer.concat([Buffer.from('x'), zeros])
  const parts = deltaOf(zeros, now, 256 << 10)
  expect(rebuild(zeros, parts).equals(now)).toBe(true)
  expect(literals(parts)).toBeLessThanOrEqual(2 * BLOCK)
})

test('a file of equal bytes over other equal bytes is sent with little work', () => {
  const now = Buffer.alloc(12 * BLOCK, 0xff)
  const used = measureProcessor()
  const parts = deltaOf(Buffer.alloc(12 * BLOCK), now, 256 << 10)
  expect(used()).toBeLessThan(2000)
  expect(rebuild(old, parts).equals(now)).toBe(true)
})

test('false sums that match at every byte cause little work', () => {
  const now = Buffer.alloc(12 * BLOCK, 7)
  const sums = encodeSums(blocksOf(now))
  for (let at = 4; at < sums.length; at += 20) sums.fill(1, at, at + 16)
  const delta = new Delta(decodeSums(sums))
  const used = measureProcessor()
  const parts = [...delta.push(now), ...delta.end()]
  expect(used()).toBeLessThan(2000)
  expect(rebuild(old, parts).equals(now)).toBe(true)
})

test('a file with any edits is rebuilt from its delta', () => {
  const edit = fc.record({
    at: fc.nat(old.length),
    remove: fc.nat(2 * BLOCK),
    insert: fc.nat(2 * BLOCK),
  })
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 3 }), fc.integer({ min: 10_000, max: 400_000 }), (edits, piece) => {
      let now = old
      for (const { at, remove, insert } of edits)
        now = Buffer.concat([now.subarray(0, at), randomBytes(insert), now.subarray(at + remove)])
      expect(rebuild(old, deltaOf(old, now, piece)).equals(now)).toBe(true)
    }),
    { numRuns: 15 },
  )
})

test('weakSum depends only on the bytes of its window', () => {
  const bytes = randomBytes(2 * BLOCK)
  expect(weakSum(bytes, 5, 5 + BLOCK)).toBe(weakSum(bytes.subarray(5, 5 + BLOCK)))
})

test('decodeSums refuses incomplete sums', () => {
  expect(() => decodeSums(Buffer.alloc(21))).toThrow()
})
