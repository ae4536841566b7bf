import { expect, test } from 'vitest'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import type { OperationEvent } from '../../../api/events.ts'
import { retryTransient } from '../../../develop/retry-transient.ts'
import { Credentials } from '../../../develop/session/credentials.ts'

const failures = (...all: readonly Error[]) => {
  const left = [...all]
  return async (heard: () => void) => {
    const error = left.shift()
    if (error) throw error
    heard()
  }
}

test('retryTransient continues after transient errors, and warns once about refused credentials', async () => {
  const events: OperationEvent[] = []
  const refused = () => new ClusterError('unauthorized', 'no more')
  const work = failures(new ClusterError('unreachable', 'gone'), refused(), refused())
  await retryTransient(work, new Credentials(event => events.push(event)), AbortSignal.timeout(60_000))
  expect(events).toEqual([
    { type: 'warning', text: 'no more', hint: 'log in again, in another terminal: `up` goes on by itself' },
    { type: 'note', text: 'the cluster accepts the credentials again' },
  ])
})

test('retryTransient ends at a permanent error, and with the reason of its signal', async () => {
  const credentials = new Credentials(() => {})
  const forbidden = new ClusterError('forbidden', 'you may not')
  await expect(retryTransient(failures(forbidden), credentials, AbortSignal.timeout(60_000))).rejects.toBe(forbidden)
  const stop = new AbortController()
  const work = async () => {
    stop.abort(new Error('enough'))
    throw new ClusterError('unreachable', 'gone')
  }
  await expect(retryTransient(work, credentials, stop.signal)).rejects.toThrow('enough')
})
