import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { OperationEvent } from '../../../api/events.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { longTest } from '../../support/takes-all.ts'
import { ANY_NODE } from './no-node.ts'
import {
  DEPLOYMENT,
  give,
  openPlace,
  type Place,
  pendingDeployment,
  readyPod,
  takeOne,
  withoutServerFields,
} from './taking.ts'

describe.skipIf(!process.env.KUBECONFIG)('take-over and restore of an application', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace('take')
  })
  afterAll(() => place?.close())

  const replicas = async (name: string) => (await place.get(DEPLOYMENT(name)))?.['spec'] as { replicas?: number }
  const scale = (name: string, count: number, manager = 'kubectl-scale') =>
    place.cluster.patch({ ...DEPLOYMENT(name), namespace: place.namespace }, { spec: { replicas: count } }, { manager })

  test('a mirror replaces its application, and `down` restores the application completely', async () => {
    const before = await place.apply(pendingDeployment('whole'))
    const session = place.session()
    const taken = await takeOne(session, DEPLOYMENT('whole'), { name: 'whole', nodeSelector: ANY_NODE })
    expect(taken.text).toBe('deployment/whole 2 → 0 replicas, mirror deployment/whole-dev')
    const resting = await place.get(DEPLOYMENT('whole'))
    expect(resting).toMatchObject({ spec: { replicas: 0 }, metadata: { labels: { 'dev.platform/up': 'true' } } })
    await readyPod(place, 'dev.platform/mirror=whole')
    await taken.release()
    expect(await give(session, 'whole')).toEqual({ wasActive: true, restored: 'deployment/whole' })
    expect(withoutServerFields(await place.get(DEPLOYMENT('whole')))).toEqual(withoutServerFields(before))
    expect(await place.get(DEPLOYMENT('whole-dev'))).toBeUndefined()
    expect(await give(session, 'whole')).toEqual({ wasActive: false, restored: undefined })
    const there = await place.get(DEPLOYMENT('whole'))
    const again = await place.apply(pendingDeployment('whole'))
    expect(again.metadata.resourceVersion).toBe(there?.metadata.resourceVersion)
  })

  test('down restores the fields of each manager: an applier, kubectl and an autoscaler', async () => {
    await place.apply(pendingDeployment('owned', { replicas: undefined }), 'gitops')
    await place.apply({ ...pendingDeployment('owned'), spec: { replicas: 4 } } as KubeObject, 'scaler')
    await scale('owned', 3)
    const before = await place.get(DEPLOYMENT('owned'))
    const taken = await takeOne(place.session(), DEPLOYMENT('owned'), { name: 'owned' })
    await taken.release()
    await give(place.session(), 'owned')
    expect(withoutServerFields(await place.get(DEPLOYMENT('owned')))).toEqual(withoutServerFields(before))
  })

  longTest('kubectl apply reports an unchanged application after `down`', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'devctl-up-')), 'app.json')
    writeFileSync(file, JSON.stringify(pendingDeployment('kubectl')))
    const kubectl = findCluster()!
    await kubectl.kubectl('-n', place.namespace, 'apply', '-f', file)
    const before = await place.get(DEPLOYMENT('kubectl'))
    const taken = await takeOne(place.session(), DEPLOYMENT('kubectl'), { name: 'kubectl' })
    await taken.release()
    await give(place.session(), 'kubectl')
    expect(withoutServerFields(await place.get(DEPLOYMENT('kubectl')))).toEqual(withoutServerFields(before))
    expect(await kubectl.kubectl('-n', place.namespace, 'apply', '-f', file)).toBe(
      'deployment.apps/kubectl unchanged\n',
    )
    kubectl.close()
  })

  longTest('the mirror follows template changes, and `down` keeps a repeated scale-up', async () => {
    await place.apply(pendingDeployment('watched'))
    const events: OperationEvent[] = []
    const stop = new AbortController()
    const taken = await takeOne(place.session(), DEPLOYMENT('watched'), { name: 'watched' }, {}, event =>
      events.push(event),
    )
    const watching = taken.watch(stop.signal)
    const changed = pendingDeployment('watched', { replicas: undefined }, {})
    const [container] = (changed['spec'] as { template: { spec: { containers: { env: object[] }[] } } }).template.spec
      .containers
    container!.env = [{ name: 'A', value: '2' }]
    await place.apply(changed)
    await eventually(
      'the mirror has the new variable',
      async () => JSON.stringify(await place.get(DEPLOYMENT('watched-dev'))).includes('"value":"2"') || undefined,
    )
    for (let time = 0; time < 3; time++) {
      await scale('watched', 5)
      await eventually(
        'it is scaled to zero again',
        async () => (await replicas('watched')).replicas === 0 || undefined,
      )
    }
    await scale('watched', 6)
    await eventually('it is contested', async () => events.some(({ type }) => type === 'warning') || undefined)
    expect(events.find(({ type }) => type === 'warning')).toMatchObject({
      text: '`kubectl-scale` scales `deployment/watched` up again and again: it runs beside its mirror',
    })
    stop.abort()
    await watching
    await taken.release()
    await give(place.session(), 'watched')
    expect(await replicas('watched')).toMatchObject({ replicas: 6 })
  })

  test('another user is refused unless they take over, and the first user is informed', async () => {
    await place.apply(pendingDeployment('shared'))
    const ann = await takeOne(place.session(), DEPLOYMENT('shared'), { name: 'shared' })
    const bob = place.session({ holder: { name: 'bob@desk (2)', isGone: () => false } })
    await expect(takeOne(bob, DEPLOYMENT('shared'), { name: 'shared' })).rejects.toThrow(
      /already has a development container/,
    )
    const taken = await takeOne(bob, DEPLOYMENT('shared'), { name: 'shared' }, { takeOver: true })
    await eventually('ann hears of it', async () => ann.signal.aborted || undefined)
    expect(ann.signal.reason).toMatchObject({ message: 'somebody else has taken over `deployment/shared`' })
    await ann.release()
    await taken.release()
    await give(place.session(), 'shared')
    expect(await replicas('shared')).toMatchObject({ replicas: 2 })
  })

  test('a deleted application deletes its mirror, and `up` ends', async () => {
    await place.apply(pendingDeployment('deleted'))
    const taken = await takeOne(place.session(), DEPLOYMENT('deleted'), { name: 'deleted' })
    const watching = expect(taken.watch(new AbortController().signal)).rejects.toThrow(
      '`deployment/deleted` was deleted, and its mirror with it',
    )
    await place.cluster.delete({ ...DEPLOYMENT('deleted'), namespace: place.namespace })
    await watching
    await eventually('the mirror is gone', async () => !(await place.get(DEPLOYMENT('deleted-dev'))) || undefined)
    await taken.release()
    await give(place.session(), 'deleted')
  })

  longTest('a development container without an application has its own Service', async () => {
    const taken = await takeOne(place.session(), undefined, { name: 'alone', autocreate: true, image: 'busybox:1.37' })
    await readyPod(place, 'dev.platform/mirror=alone')
    const service = await place.get({ apiVersion: 'v1', kind: 'Service', name: 'alone' })
    expect(service).toMatchObject({ spec: { ports: [{ port: 8080 }] } })
    await taken.release()
    expect(await give(place.session(), 'alone', true)).toEqual({ wasActive: true, restored: undefined })
    expect(await place.get(DEPLOYMENT('alone-dev'))).toBeUndefined()
  })

  test('up --dry-run changes nothing', async () => {
    const before = await place.apply(pendingDeployment('dry'))
    const planned = await takeOne(place.session(), DEPLOYMENT('dry'), { name: 'dry' }, { dryRun: true }).catch(
      error => error,
    )
    expect(planned).toMatchObject({ message: 'nothing was taken' })
    expect(withoutServerFields(await place.get(DEPLOYMENT('dry')))).toEqual(withoutServerFields(before))
    expect(await place.get(DEPLOYMENT('dry-dev'))).toBeUndefined()
  })
})
