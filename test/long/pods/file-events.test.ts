import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KubeconfigAccess, kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { fileEventsCross } from '../../../develop/files/file-events.ts'
import { startPod, TOOLS_CONTAINER, TOOLS_MOUNT } from '../../pods/develop/pod.ts'
import { findCluster } from '../../support/cluster/cluster.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('events of files between containers', () => {
  const namespace = `events-${process.pid}`
  let access: KubeconfigAccess

  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    await startPod(cluster!, namespace, 'box', {
      initContainers: [TOOLS_CONTAINER],
      containers: [
        {
          name: 'agent',
          image: 'node:22-alpine',
          command: ['sleep', '3600'],
          volumeMounts: [{ name: 'files', mountPath: '/volume' }],
        },
        {
          name: 'main',
          image: 'busybox:1.37',
          command: ['sleep', '3600'],
          volumeMounts: [
            TOOLS_MOUNT,
            { name: 'files', mountPath: '/app', subPath: 'src/0' },
            { name: 'other', mountPath: '/other' },
          ],
        },
      ],
      volumes: ['tools', 'files', 'other'].map(name => ({ name, emptyDir: {} })),
    })
    access = await kubeconfigAccess(undefined, process.env)
  })
  afterAll(async () => {
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  const cross = (path: string) =>
    fileEventsCross(
      access,
      {
        pod: 'box',
        namespace,
        agent: { container: 'agent', path: '/volume/src/0' },
        own: { container: 'main', path },
      },
      AbortSignal.timeout(60_000),
    )

  test('fileEventsCross returns true, false, or undefined if it cannot test them', async () => {
    expect(await cross('/app')).toBe(true)
    // Simulates a sandbox that passes no events on.
    expect(await cross('/other')).toBe(false)
    expect(await cross('/nowhere')).toBeUndefined()
  })
})
