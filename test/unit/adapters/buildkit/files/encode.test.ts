import { Readable } from 'node:stream'
import fc from 'fast-check'
import protobuf from 'protobufjs'
import { expect, test } from 'vitest'
import {
  framePiece,
  PIECE_HEAD,
  PIECE_TAIL,
  putStat,
  sizeOfStat,
} from '../../../../../adapters/buildkit/files/encode.ts'
import { messagesIn } from '../../../../../adapters/buildkit/session/frames.ts'

/** https://github.com/tonistiigi/fsutil/blob/master/types/stat.proto */
const STAT = {
  path: { type: 'string', id: 1 },
  mode: { type: 'uint32', id: 2 },
  uid: { type: 'uint32', id: 3 },
  gid: { type: 'uint32', id: 4 },
  size: { type: 'int64', id: 5 },
  modTime: { type: 'int64', id: 6 },
  linkname: { type: 'string', id: 7 },
  devmajor: { type: 'int64', id: 8 },
  devminor: { type: 'int64', id: 9 },
}
const PACKET = {
  type: { type: 'int32', id: 1 },
  stat: { type: 'Stat', id: 2 },
  ID: { type: 'uint32', id: 3 },
  data: { type: 'bytes', id: 4 },
}
const packet = protobuf.Root.fromJSON({
  nested: { Stat: { fields: STAT }, Packet: { fields: PACKET } },
}).lookupType('Packet')

/** Decodes messages after their length prefixes with protobufjs. */
async function packetsIn(frames: Buffer) {
  const packets = []
  for await (const one of messagesIn(Readable.from([frames]), bytes => packet.decode(bytes)))
    packets.push(packet.toObject(one, { longs: String, bytes: Buffer }))
  return packets
}

test('protobufjs decodes the files that putStat writes one after the other', async () => {
  const stat = fc.record({
    path: fc.string({ minLength: 1, unit: 'binary' }),
    mode: fc.integer({ min: 1, max: 2 ** 32 - 1 }),
    size: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    modTime: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    linkname: fc.string({ minLength: 1, unit: 'binary' }),
    devmajor: fc.integer({ min: 1 }),
    devminor: fc.integer({ min: 1 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(stat, { minLength: 1 }), async files => {
      const buffer = Buffer.alloc(files.map(sizeOfStat).reduce((sum, size) => sum + size))
      const end = files.reduce((at, one) => putStat(buffer, at, one), 0)
      const expected = files.map(({ size, modTime, devmajor, devminor, ...one }) => ({
        stat: { ...one, size: `${size}`, modTime: `${modTime}`, devmajor: `${devmajor}`, devminor: `${devminor}` },
      }))
      expect(await packetsIn(buffer.subarray(0, end))).toEqual(expected)
    }),
    { seed: 1, numRuns: 100 },
  )
})

test.each([
  [0, 3, false],
  [2 ** 32 - 1, 100_000, false],
  [7, 100_000, true],
  [7, 0, true],
])('protobufjs decodes a piece of file %s with %s bytes, the last one: %s', async (file, length, isLast) => {
  const buffer = Buffer.alloc(PIECE_HEAD + length + PIECE_TAIL)
  const content = buffer.subarray(PIECE_HEAD, PIECE_HEAD + length).fill('x')
  const data = { type: 2, ID: file, data: Buffer.from(content) }
  const expected = [...(length > 0 ? [data] : []), ...(isLast ? [{ type: 2, ID: file }] : [])]
  expect(await packetsIn(framePiece(buffer, file, length, isLast))).toEqual(expected)
})
