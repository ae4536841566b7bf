import { expect, test } from 'vitest'
import type { Cluster, LogOptions } from '../../../../adapters/kubernetes/cluster.ts'
import { connectTo } from '../../../../operations/run/connect.ts'
import type { RunContext } from '../../../../operations/run/run-context.ts'
import { never } from '../../../support/objects/deploying.ts'

test('the output of a run has the bytes of the log, without added line ends', async () => {
  const printed = [Buffer.from([0xff, 0x1b, 0x0d, 0x0a, 0xc3]), Buffer.from([0xa9]), Buffer.from('no line end')]
  const asked: LogOptions[] = []
  const cluster: Pick<Cluster, 'logBytes'> = {
    async *logBytes(_, options) {
      asked.push(options)
      yield* printed
    },
  }
  const written: Uint8Array[] = []
  const world = { session: { cluster, namespace: 'shop' }, write: (part: Uint8Array) => void written.push(part) }
  const connect = connectTo(world as unknown as RunContext, 'web')
  await connect({ pod: 'web-run', signal: never, over: never })
  expect(Buffer.concat(written)).toEqual(Buffer.concat(printed))
  expect(asked).toMatchObject([{ container: 'web', follow: true }])
})
