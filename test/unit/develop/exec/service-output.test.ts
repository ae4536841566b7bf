import { expect, test } from 'vitest'
import type { Cluster, KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { passOutput } from '../../../../develop/exec/service-output.ts'
import type { Supervisor } from '../../../../develop/session/supervisor.ts'

const podWith = (id: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'api-dev-1', namespace: 'shop', uid: 'u' },
  status: {
    containerStatuses: [
      {
        name: 'api',
        containerID: id,
        state: { running: {} },
        ...(id !== 'first' && {
          lastState: { terminated: { exitCode: 1, reason: 'Error', containerID: 'first' } },
        }),
      },
    ],
  },
})

/**
 * Reads a log that ends after its first lines, and then follows the log of the container `next`. Returns the numbers of
 * lines that were requested, and what was shown.
 */
async function passed(next: string) {
  const requested: (number | undefined)[] = []
  const shown: string[] = []
  const over = new AbortController()
  const cluster = {
    get: async () => podWith(requested.length === 0 ? 'first' : next),
    async *logs(_: unknown, { tailLines }: { readonly tailLines?: number }) {
      requested.push(tailLines)
      if (requested.length > 1) over.abort(new Error('the end'))
      yield `line of request ${requested.length}`
    },
  } as unknown as Cluster
  const supervisor = {
    untilReady: async () => ({ pod: podWith('first'), lost: new AbortController().signal }),
  } as unknown as Supervisor
  const line = (text: string) => void shown.push(text)
  const output = { cluster, namespace: 'shop', container: 'api' }
  await expect(passOutput(supervisor, output, over.signal, { line, ended: line })).rejects.toThrow('the end')
  return { requested, shown }
}

test('passOutput shows the first lines of a container that was restarted in its Pod', async () => {
  expect(await passed('second')).toEqual({
    requested: [100, 100],
    shown: ['line of request 1', 'container `api` has ended (Error); it starts again', 'line of request 2'],
  })
})

test('passOutput shows no line twice if only the connection to a container has ended', async () => {
  expect((await passed('first')).requested).toEqual([100, 0])
})
