import { type Duplex, PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import { dialAgent } from '../../../../develop/session/dial-agent.ts'

const refused = () => new ClusterError('not-found', 'nothing listens')

/** Returns a stream that was refused before any listener was attached, like that of a port-forward. */
function dead(error: Error): Duplex {
  const stream = new PassThrough()
  stream.on('error', () => {})
  stream.destroy(error)
  return stream
}

/** Returns a stream that is refused a moment later. */
function dying(error: Error): Duplex {
  const stream = new PassThrough()
  stream.on('error', () => {})
  setImmediate(() => stream.destroy(error))
  return stream
}

test('dialAgent retries until an agent answers, and leaves its first bytes in the stream', async () => {
  const answering = new PassThrough()
  setImmediate(() => answering.write('hello'))
  const streams = [dead(refused()), dying(refused()), dying(new ClusterError('unavailable', 'not yet')), answering]
  const stream = await dialAgent(async () => streams.shift()!, AbortSignal.timeout(5_000))
  expect(stream).toBe(answering)
  expect(String(await new Promise(resolve => stream.once('data', resolve)))).toBe('hello')
})

test('dialAgent retries after a connection that closes without data', async () => {
  const answering = new PassThrough()
  answering.write('hello')
  const closing = new PassThrough()
  setImmediate(() => closing.end())
  const streams = [closing, answering]
  expect(await dialAgent(async () => streams.shift()!, AbortSignal.timeout(5_000))).toBe(answering)
})

test('dialAgent does not wait for a connection that was closed before', async () => {
  const answering = new PassThrough()
  answering.write('hello')
  const closed = new PassThrough()
  closed.end()
  await new Promise(resolve => setImmediate(resolve))
  const streams = [closed, answering]
  expect(await dialAgent(async () => streams.shift()!, AbortSignal.timeout(2_000), 60_000)).toBe(answering)
})

test('dialAgent does not wait for a missing Pod or an unreachable server', async () => {
  const gone = new ClusterError('not-found', 'pods "a" not found', { status: 404 })
  await expect(dialAgent(() => Promise.reject(gone), AbortSignal.timeout(5_000))).rejects.toBe(gone)
  const cut = new ClusterError('unreachable', 'cut')
  await expect(dialAgent(async () => dying(cut), AbortSignal.timeout(5_000))).rejects.toBe(cut)
})

test('dialAgent replaces a connection that stays silent', async () => {
  const silent = new PassThrough()
  const answering = new PassThrough()
  answering.write('hello')
  const streams = [silent, answering]
  const signal = AbortSignal.timeout(5_000)
  expect(await dialAgent(async () => streams.shift()!, signal, 20)).toBe(answering)
  expect(silent.destroyed).toBe(true)
})

test('the signal ends dialAgent, also while no data arrives', async () => {
  const stop = new AbortController()
  const stream = new PassThrough()
  const dialling = dialAgent(async () => stream, stop.signal)
  setImmediate(() => stop.abort(new Error('enough')))
  await expect(dialling).rejects.toThrow()
  expect(stream.destroyed).toBe(true)
})
