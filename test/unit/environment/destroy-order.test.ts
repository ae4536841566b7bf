import { expect, test } from 'vitest'
import { destroyEnvironment } from '../../../environment/apply/destroy.ts'
import { ENVIRONMENT, holder, NAMESPACE, never, newCluster, object } from '../../support/objects/deploying.ts'
import { FakeClock } from '../../support/objects/fake-clock.ts'

test('destroy deletes addresses first, then all workloads, then what they need', async () => {
  const cluster = newCluster()
  for (const [kind, name] of [
    ['ConfigMap', 'page'],
    ['PersistentVolumeClaim', 'data'],
    ['Service', 'db'],
    ['Service', 'web'],
    ['Deployment', 'web'],
    ['StatefulSet', 'db'],
    ['Ingress', 'web'],
  ] as const)
    await cluster.create(object(kind, name, kind === 'ConfigMap' ? {} : { spec: {} }, name))
  const deleted: string[] = []
  await destroyEnvironment(
    { cluster, environment: ENVIRONMENT, namespace: NAMESPACE, holder: holder(), volumes: true, wait: true },
    {
      clock: new FakeClock(),
      signal: never,
      events: { planned() {}, deleted: name => deleted.push(name), locked() {} },
    },
  )
  expect(deleted).toEqual([
    'ingress/web',
    'deployment/web',
    'statefulset/db',
    'service/db',
    'service/web',
    'configmap/page',
    'persistentvolumeclaim/data',
  ])
})
