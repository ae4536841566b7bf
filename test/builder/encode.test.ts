import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeStat } from '../../adapters/buildkit/files/encode.ts'
import { loadProtocol } from '../../adapters/buildkit/protocol.ts'

test('a file is encoded as protobufjs encodes it', async () => {
  const packet = (await loadProtocol()).types.lookupType('fsutil.types.Packet')
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
