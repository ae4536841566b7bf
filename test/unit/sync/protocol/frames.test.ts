import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeFrame, FRAME_LIMITS, FrameReader, GREETING_LIMITS } from '../../../../sync/protocol/frames.ts'

const read = (bytes: Buffer, sizes: readonly number[]) => {
  const reader = new FrameReader(FRAME_LIMITS)
  const frames = []
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length]!
    reader.push(bytes.subarray(at, at + size))
    at += size
    for (let frame = reader.next(); frame; frame = reader.next()) frames.push(frame)
  }
  return frames
}

test('frames arrive as they were sent, in pieces of any size', () => {
  const piece = fc.integer({ min: 1, max: 200 })
  const frame = fc.record({
    header: fc.dictionary(fc.string(), fc.jsonValue()),
    body: fc.uint8Array({ maxLength: 300 }),
  })
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), fc.array(piece, { minLength: 1 }), (frames, sizes) => {
      const bytes = Buffer.concat(frames.flatMap(({ header, body }) => encodeFrame('apply', header, [body])))
      const found = read(bytes, sizes).map(({ header, body }) => ({ header, body: [...body] }))
      const sent = frames.map(({ header, body }) => ({
        header: JSON.parse(JSON.stringify(header)),
        body: [...body],
      }))
      expect(found).toEqual(sent)
    }),
  )
})

test('any bytes are read as frames or refused with an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), bytes => {
      const reader = new FrameReader(GREETING_LIMITS)
      reader.push(Buffer.from(bytes))
      const headers: unknown[] = []
      try {
        for (let frame = reader.next(); frame; frame = reader.next()) headers.push(frame.header)
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
      for (const header of headers) expect(header).toBeTypeOf('object')
    }),
  )
})

test.each([
  ['a frame of 4 GiB', 'ffffffff0000000002'],
  ['a header that is longer than its frame', '000000060000000009'],
  ['an unknown type', '00000007ff000000027b7d'],
  ['a header that is a list', '0000000700000000025b5d'],
  ['a header that is no JSON', '00000007000000000278'.padEnd(22, '7')],
])('FrameReader refuses %s', (_name, hex) => {
  const reader = new FrameReader(FRAME_LIMITS)
  reader.push(Buffer.from(hex, 'hex'))
  expect(() => reader.next()).toThrow()
})

test('FrameReader refuses a large frame before the greeting', () => {
  const reader = new FrameReader(GREETING_LIMITS)
  reader.push(Buffer.concat(encodeFrame('auth', { nonce: randomBytes(3000).toString('hex') })))
  expect(() => reader.next()).toThrow()
})
