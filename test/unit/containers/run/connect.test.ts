import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Cluster, ClusterError, type LogOptions } from '../../../../adapters/kubernetes/cluster.ts'
import { connectTo } from '../../../../containers/run/connect.ts'
import { InputError } from '../../../../containers/run/follow-run.ts'
import type { RunContext } from '../../../../containers/run/run-context.ts'
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

test('a run whose input cannot be connected fails while its log goes on', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const end = new AbortController()
  onTestFinished(() => {
    vi.useRealTimers()
    end.abort()
  })
  const forbidden = new ClusterError('forbidden', 'pods "web-run" is forbidden')
  const cluster: Pick<Cluster, 'logBytes'> = {
    async *logBytes() {
      yield Buffer.from('waiting for input\n')
      await once(end.signal, 'abort')
    },
  }
  const access = { connect: () => Promise.reject(forbidden) }
  const world = { session: { cluster, access, namespace: 'shop' }, input: new PassThrough(), write() {} }
  const connect = connectTo(world as unknown as RunContext, 'web')
  const failed = connect({ pod: 'web-run', signal: never, over: never }).catch((error: unknown) => error)
  // The end of a container is reported late.
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
  await vi.runAllTimersAsync()
  const error = await failed
  expect(error).toBeInstanceOf(InputError)
  expect(error).toMatchObject({ cause: forbidden })
})
