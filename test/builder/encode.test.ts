import fc from 'fast-check'
import protobuf from 'protobufjs'
import { expect, test } from 'vitest'
import { encodeStat } from '../../adapters/buildkit/files/encode.ts'

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
const PACKET = { stat: { type: 'Stat', id: 2 } }

test('a file is encoded as protobufjs encodes it', () => {
  const packet = protobuf.Root.fromJSON({ nested: { Stat: { fields: STAT }, Packet: { fields: PACKET } } }).lookupType(
    'Packet',
  )
  const stat = fc.record({
    path: fc.string({ minLength: 1, unit: 'binary' }),
    mode: fc.nat(2 ** 32 - 1),
    size: fc.maxSafeNat(),
    modTime: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    linkname: fc.string({ unit: 'binary' }),
    devmajor: fc.nat(),
    devminor: fc.nat(),
  })
  fc.assert(
    fc.property(stat, one => {
      const decoded = packet.toObject(packet.decode(encodeStat(one)), { longs: String, defaults: true })
      const { size, modTime, devmajor, devminor } = one
      const longs = { size: `${size}`, modTime: `${modTime}`, devmajor: `${devmajor}`, devminor: `${devminor}` }
      expect(decoded).toMatchObject({ stat: { ...one, ...longs } })
    }),
    { seed: 1, numRuns: 100 },
  )
})
