import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import type { OperationEvent } from '../../../api/events.ts'
import type { MirrorSettings } from '../../../constructs/mirror/settings.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { AGENT, settings } from '../../support/mirror/settings.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { ANY_NODE, NO_NODE } from './no-node.ts'
import {
  DEPLOYMENT,
  deployment,
  give,
  openPlace,
  type Place,
  pendingDeployment,
  readyPod,
  takeOne as takeHere,
  withoutServerFields,
} from './taking.ts'
import { imageWithFiles, imageWithUser } from './user-image.ts'

// Mirrors in Pods, for a user with the role `edit`: kinds of applications, users, the restricted level. The Pods of
// most applications stay pending, because only those of the mirrors matter.

const RESTRICTED = { 'pod-security.kubernetes.io/enforce': 'restricted' }
const SAFE = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
const CONTAINER = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }

const found = findCluster()

describe.skipIf(found === undefined).concurrent('mirrors', () => {
  let place: Place
  let strict: Place
  beforeAll(async () => {
    place = await openPlace('kinds')
    strict = await openPlace('strict', RESTRICTED)
  })
  afterAll(async () => {
    await place?.close()
    await strict?.close()
  })

  /** Returns what a script prints in the development container of a Pod. */
  const inPod = async ({ namespace }: Place, { metadata }: KubeObject, script: string, container = 'main') =>
    (
      await found!.kubectl(
        '-n',
        namespace,
        'exec',
        metadata.name,
        '-c',
        container,
        '--',
        '/devctl-tools/busybox',
        'sh',
        '-c',
        script,
      )
    ).trim()
  const podOf = (where: Place, name: string) => readyPod(where, `dev.platform/mirror=${name}`)
  /** Takes over an application. Its mirror runs although the Pods of the application may stay pending. */
  const takeOne: typeof takeHere = (session, original, more = {}, ...rest) =>
    takeHere(session, original, { nodeSelector: ANY_NODE, ...more }, ...rest)
  const strictly = (name: string, container: object = {}, pod: object = {}) =>
    pendingDeployment(
      name,
      { replicas: 1 },
      {
        securityContext: SAFE,
        containers: [
          { name: 'main', image: 'busybox:1.37', command: ['sleep', '3600'], securityContext: CONTAINER, ...container },
        ],
        ...pod,
      },
    )

  const users: readonly (readonly [string, () => Promise<KubeObject>, Partial<MirrorSettings>, string])[] = [
    ['image', async () => strictly('image', { image: await imageWithUser('1234:1235') }), {}, '1234:'],
    [
      'known',
      async () => strictly('known', {}, { securityContext: { ...SAFE, runAsUser: 1000, runAsGroup: 1001 } }),
      {},
      '1000:1001',
    ],
    [
      'given',
      async () => strictly('given', {}),
      { security: { runAsUser: 1500, capabilities: { add: [], drop: [] } } },
      '1500',
    ],
  ]
  test.each(few(users))(
    'under the restricted level, the agent has the user of the container: %s',
    async (name, original, more, user) => {
      await strict.apply(await original())
      const before = await strict.get(DEPLOYMENT(name))
      const session = strict.session()
      const stop = new AbortController()
      const taken = await takeOne(session, DEPLOYMENT(name), { name, ...more })
      const watching = taken.watch(stop.signal)
      const pod = await podOf(strict, name)
      const ids = await inPod(
        strict,
        pod,
        'cat /app/agent; echo; b=/devctl-tools/busybox; $b id -u; $b touch /app/own && echo ok',
      )
      const [agent = '', uid = '', touched] = ids.split('\n')
      expect(agent).toContain(user)
      expect(agent.startsWith(`${uid}:`)).toBe(true)
      expect(touched).toBe('ok')
      stop.abort()
      await watching
      await taken.release()
      if (name === 'image') {
        // The next session finds the mirror, and the Pod stays.
        const next = await takeOne(session, DEPLOYMENT(name), { name })
        expect((await podOf(strict, name)).metadata.uid).toBe(pod.metadata.uid)
        await next.release()
      }
      await give(session, name, true)
      expect(withoutServerFields(await strict.get(DEPLOYMENT(name)))).toEqual(withoutServerFields(before))
    },
  )

  longTest('the agent drops from root to the user of an image', async () => {
    const image = await imageWithUser('4321:4322')
    await place.apply(
      pendingDeployment('dropped', {}, { containers: [{ name: 'main', image, command: ['sleep', '3600'] }] }),
    )
    const taken = await takeOne(place.session(), DEPLOYMENT('dropped'), { name: 'dropped' })
    const pod = await podOf(place, 'dropped')
    expect(await inPod(place, pod, 'cat /app/agent; echo; /devctl-tools/busybox id -u')).toBe('4321:0\n4321')
    await taken.release()
    await give(place.session(), 'dropped', true)
  })

  const PROBED = {
    name: 'main',
    command: ['sh', '-c', 'ls /app > /tmp/seen; exec sleep 3600'],
    livenessProbe: { exec: { command: ['true'] }, initialDelaySeconds: 1 },
  }
  const KEPT = { liveness: true, readiness: false, startup: false }
  const OFF = { ...KEPT, liveness: false }

  const ways: readonly (readonly [string, MirrorSettings['probes'], boolean, 'initContainers' | 'containers'])[] = [
    ['beside', OFF, true, 'containers'],
    ['before', KEPT, true, 'initContainers'],
    ['old', KEPT, false, 'containers'],
  ]
  let pushed: Promise<string> | undefined
  const imageOnce = () => {
    pushed ??= imageWithFiles('first', { '/app/made.js': '1' })
    return pushed
  }
  test.each(few(ways))(
    'the container starts after its files exist, with a mirror of the form %s',
    async (name, probes, hasSidecars, where) => {
      const image = await imageOnce()
      await place.apply(pendingDeployment(`first-${name}`, { replicas: 1 }, { containers: [{ ...PROBED, image }] }))
      const session = place.session(hasSidecars ? {} : { cluster: beforeSidecars(place.cluster) })
      // This agent is slow.
      const agent = AGENT.replace("fs.writeFileSync('/run", "Atomics.wait(sleep, 0, 0, 3000)\nfs.writeFileSync('/run")
      const taken = await takeOne(
        session,
        DEPLOYMENT(`first-${name}`),
        { name: `first-${name}`, probes, folders: [{ path: '/app', directory: 'src/0' }] },
        { agent, facts: { agentImage: 'node:22-alpine', toolsImage: 'busybox:1.37', runs: 'command', files: [] } },
      )
      const pod = await podOf(place, `first-${name}`)
      const spec = pod['spec'] as Record<string, { name: string }[]> // a Pod's
      expect(spec[where]!.map(one => one.name)).toContain('devctl-agent')
      const seen = await eventually('it has started', async () => {
        const script = 'until [ -s /tmp/seen ]; do sleep 0.2; done; cat /tmp/seen'
        return (await inPod(place, pod, script).catch(() => undefined))?.split('\n')
      })
      expect(seen).toEqual(expect.arrayContaining(['agent', 'made.js']))
      await taken.release()
      await give(place.session(), `first-${name}`, true)
    },
  )

  test('files of the image and volumes survive a new Pod, and the agent has no token', async () => {
    await place.apply(pendingDeployment('filled'))
    const folders = [{ path: '/etc', directory: 'src/0' }]
    const taken = await takeOne(place.session(), DEPLOYMENT('filled'), {
      name: 'filled',
      folders,
      volumes: [{ path: '/root/.cache', directory: 'data/root/.cache' }],
    })
    const pod = await podOf(place, 'filled')
    const list = 'ls /var/run/secrets/kubernetes.io/serviceaccount'
    const [count, ...token] = (
      await inPod(place, pod, `grep -c root /etc/passwd; echo kept > /root/.cache/file; ${list}`)
    ).split('\n')
    expect(count).toBe('1')
    expect(token).toContain('token')
    expect(await inPod(place, pod, list, 'devctl-agent')).toBe('')
    await place.cluster.delete({ apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, namespace: place.namespace })
    const next = await eventually('another Pod', async () => {
      const one = await podOf(place, 'filled')
      return one.metadata.uid === pod.metadata.uid ? undefined : one
    })
    expect(await inPod(place, next, 'cat /root/.cache/file')).toBe('kept')
    await taken.release()
    await give(place.session(), 'filled', true)
  })

  longTest('process 1 restarts its command at SIGUSR1 and at its end', async () => {
    await place.apply(pendingDeployment('runs'))
    const command = ['sh', '-c', 'echo start >> /tmp/starts; exec sleep 3600']
    const taken = await takeOne(
      place.session(),
      DEPLOYMENT('runs'),
      { name: 'runs', command },
      {
        facts: { agentImage: 'node:22-alpine', toolsImage: 'busybox:1.37', runs: 'command', files: [] },
      },
    )
    const pod = await podOf(place, 'runs')
    const starts = (count: number) =>
      eventually(`it has started ${count} times`, () => {
        const script = `until [ "$(grep -c start /tmp/starts)" = ${count} ]; do sleep 0.2; done; echo began`
        return inPod(place, pod, script).catch(() => undefined)
      })
    await starts(1)
    await inPod(place, pod, 'kill -USR1 1')
    await starts(2)
    // A command that ends by itself is started again, too; the container is not.
    await inPod(place, pod, 'kill $(grep -l "^sleep" /proc/[0-9]*/comm | cut -d/ -f3)')
    await starts(3)
    await inPod(place, pod, '(sleep 0.1 &) ; true')
    await eventually(
      'no process is left as a zombie',
      async () => (await inPod(place, pod, 'grep -l "^State:.Z" /proc/[0-9]*/status || true')) === '' || undefined,
    )
    await taken.release()
    const began = Date.now()
    await give(place.session(), 'runs', true)
    expect(Date.now() - began).toBeLessThan(20_000)
  })

  test('the mirror of a StatefulSet has its first host name and its claims, which stay', async () => {
    const SET = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db' }
    const set = deployment('db') as KubeObject & { spec: Record<string, unknown> }
    const template = set.spec['template'] as { spec: { containers: object[] } }
    template.spec.containers = [
      {
        name: 'main',
        image: 'busybox:1.37',
        command: ['sh', '-c', 'echo $HOSTNAME >> /data/log; exec sleep 3600'],
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ]
    await place.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'db' },
      spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [{ port: 80 }] },
    })
    await place.apply({
      ...set,
      kind: 'StatefulSet',
      spec: {
        ...set.spec,
        replicas: 1,
        serviceName: 'db',
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Delete' },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
          },
        ],
      },
    })
    await readyPod(place, 'app=db')
    const before = await place.get(SET)
    const taken = await takeOne(place.session(), SET, { name: 'db' })
    expect(await place.get(SET)).toMatchObject({
      spec: { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Retain' } },
    })
    const pod = await podOf(place, 'db')
    expect(await inPod(place, pod, 'cat /data/log; echo $HOSTNAME; echo mirror >> /data/log')).toBe('db-0\ndb-0')
    await taken.release()
    await give(place.session(), 'db', true)
    const strip = (object: unknown) =>
      JSON.parse(JSON.stringify(object, (key, value) => (key === 'time' ? undefined : value)))
    expect(strip(withoutServerFields(await place.get(SET)))).toEqual(strip(withoutServerFields(before)))
    const again = await eventually('its Pod is back', async () => readyPod(place, 'app=db'))
    expect(
      (await found!.kubectl('-n', place.namespace, 'exec', again.metadata.name, '--', 'cat', '/data/log'))
        .split('\n')
        .slice(0, 3),
    ).toEqual(['db-0', 'mirror', 'db-0'])
  })

  test.each(few(['CronJob', 'Job']))('a %s is suspended while its mirror exists', async kind => {
    const name = kind.toLowerCase()
    const spec = {
      template: {
        spec: {
          restartPolicy: 'Never',
          nodeSelector: NO_NODE,
          containers: [{ name: 'main', image: 'busybox:1.37', command: ['sleep', '3600'] }],
        },
      },
    }
    await place.apply({
      apiVersion: 'batch/v1',
      kind,
      metadata: { name },
      spec: kind === 'Job' ? spec : { schedule: '0 0 1 1 *', jobTemplate: { spec } },
    } as KubeObject)
    const ref = { apiVersion: 'batch/v1', kind, name }
    // Mirrors of other kinds show that the mirror runs.
    const taken = await (TAKES_ALL ? takeOne : takeHere)(place.session(), ref, { name })
    expect(taken.text).toBe(`${name}/${name} suspended, mirror deployment/${name}-dev`)
    expect(await place.get(ref)).toMatchObject({ spec: { suspend: true } })
    if (TAKES_ALL) await podOf(place, name)
    await taken.release()
    await give(place.session(), name, true)
    expect(await place.get(ref)).toMatchObject({ spec: { suspend: false } })
  })

  test('a DaemonSet is refused with a suggestion', async () => {
    const set = pendingDeployment('agent') as KubeObject & { spec: Record<string, unknown> }
    const { replicas: _, ...spec } = set.spec
    await place.apply({ ...set, kind: 'DaemonSet', spec })
    const taking = takeOne(
      place.session(),
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      { name: 'agent' },
    )
    await expect(taking).rejects.toMatchObject({
      message: 'a DaemonSet cannot have a mirror: `daemonset/agent`',
      hint: 'write `autocreate: true` and an `image` for a development container beside it',
    })
  })

  longTest('services of a development container share its volume', async () => {
    await place.apply(pendingDeployment('main'))
    await place.apply(pendingDeployment('worker', { replicas: 2 }))
    const worker = {
      ...settings(),
      name: 'worker',
      nodeSelector: ANY_NODE,
      folders: [{ path: '/shared', directory: 'src/0' }],
      command: ['sleep', '600'],
    }
    const taken = await takeOne(
      place.session(),
      DEPLOYMENT('main'),
      { name: 'main', services: [worker] },
      {
        services: [{ ...DEPLOYMENT('worker'), namespace: place.namespace }],
      },
    )
    const pod = await podOf(place, 'worker')
    expect(await inPod(place, pod, 'cat /shared/agent')).toBe('0:0')
    expect(await place.get(DEPLOYMENT('worker-dev'))).toMatchObject({ spec: { replicas: 2 } })
    expect(await place.get(DEPLOYMENT('worker'))).toMatchObject({ spec: { replicas: 0 } })
    await taken.release()
    expect(await give(place.session(), 'main', true)).toEqual({ wasActive: true, restored: 'deployment/main' })
    expect(await place.get(DEPLOYMENT('worker'))).toMatchObject({ spec: { replicas: 2 } })
  })

  longTest('an existing claim grows if its class allows it, and never shrinks or changes its class', async () => {
    await place.apply(pendingDeployment('claimed'))
    const volume = (more: object) => ({ volume: { ...settings().volume, size: '1Gi', ...more } })
    const up = async (more: object, on: (event: OperationEvent) => void = () => {}) => {
      const taken = await takeOne(place.session(), DEPLOYMENT('claimed'), { name: 'claimed', ...volume(more) }, {}, on)
      await taken.release()
    }
    await up({})
    await podOf(place, 'claimed')
    const events: OperationEvent[] = []
    await up({ size: '2Gi' }, event => events.push(event))
    const claim = await place.get({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'claimed-dev' })
    const size = (claim!['spec'] as { resources: { requests: { storage: string } } }).resources.requests.storage
    expect(size).toBe(events.some(({ type }) => type === 'warning') ? '1Gi' : '2Gi')
    await expect(up({ size: '500Mi' })).rejects.toMatchObject({
      message: `the claim \`claimed-dev\` has the size \`${size}\`, not \`500Mi\``,
      hint: 'keep it, or delete the claim with its files: `devctl down claimed --volumes`',
    })
    await expect(up({ storageClass: 'fast' })).rejects.toThrow(/has the storage class `standard`, not `fast`/)
    await expect(up({ accessMode: 'ReadWriteMany' })).rejects.toThrow(/access mode/)
    await give(place.session(), 'claimed', true)
  })

  longTest('a mirror in hybrid mode has the variables of the container', async () => {
    await strict.apply(strictly('hybrid', { env: [{ name: 'A', value: 'x' }] }))
    const taken = await takeOne(strict.session(), DEPLOYMENT('hybrid'), { name: 'hybrid', mode: 'hybrid', folders: [] })
    const pod = await podOf(strict, 'hybrid')
    expect(await inPod(strict, pod, 'echo $A')).toBe('x')
    await taken.release()
    await give(strict.session(), 'hybrid')
  })

  test('a mirror that Pod Security refuses is reported before anything changes', async () => {
    const before = await strict.apply(strictly('refused'))
    const root = { security: { runAsUser: 0, runAsNonRoot: false, capabilities: { add: ['SYS_ADMIN'], drop: [] } } }
    const taking = takeOne(strict.session(), DEPLOYMENT('refused'), { name: 'refused', ...root })
    await expect(taking).rejects.toMatchObject({
      message: 'the cluster would refuse `pod/refused-dev-dry-run`; nothing was changed',
    })
    expect(withoutServerFields(await strict.get(DEPLOYMENT('refused')))).toEqual(withoutServerFields(before))
  })

  longTest('a mirror that fits only without the Pods of the application runs, with a warning', async () => {
    const small = await openPlace('quota')
    try {
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'pods', namespace: small.namespace },
        spec: { hard: { pods: '1' } },
      }
      await found!.send('POST', `/api/v1/namespaces/${small.namespace}/resourcequotas`, quota)
      await small.apply(deployment('tight', { replicas: 1 }))
      await readyPod(small, 'app=tight')
      const events: OperationEvent[] = []
      const taken = await takeOne(small.session(), DEPLOYMENT('tight'), { name: 'tight' }, {}, event =>
        events.push(event),
      )
      expect(events.some(one => one.type === 'warning' && one.text.startsWith('the mirror fits only when'))).toBe(true)
      await podOf(small, 'tight')
      await taken.release()
      await give(small.session(), 'tight')
    } finally {
      await small.close()
    }
  })

  test('limits of a LimitRange are reported before anything changes', async () => {
    const bound = await openPlace('bounds')
    try {
      const limits = {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'small', namespace: bound.namespace },
        spec: { limits: [{ type: 'Container', max: { memory: '32Mi' } }] },
      }
      await bound.apply(pendingDeployment('bounded', { replicas: 0 }))
      await found!.send('POST', `/api/v1/namespaces/${bound.namespace}/limitranges`, limits)
      await expect(takeOne(bound.session(), DEPLOYMENT('bounded'), { name: 'bounded' })).rejects.toMatchObject({
        message: 'the cluster would refuse `pod/bounded-dev-dry-run`; nothing was changed',
        hint: expect.stringContaining('`kubectl describe limits`'),
      })
    } finally {
      await bound.close()
    }
  })
})

/** Returns a cluster that drops the field that makes an init container stay, like Kubernetes before 1.29. */
function beforeSidecars(cluster: Cluster): Cluster {
  return new Proxy(cluster, {
    get(target, key: keyof Cluster) {
      const member = target[key]
      if (typeof member !== 'function') return member
      if (key !== 'apply') return member.bind(target)
      const apply: Cluster['apply'] = async (object, options) => {
        const applied = await target.apply(object, options)
        if (object.kind !== 'Pod') return applied
        return JSON.parse(JSON.stringify(applied), (field, value) =>
          field === 'initContainers'
            ? value.map(({ restartPolicy: _, ...one }: Record<string, unknown>) => one)
            : value,
        )
      }
      return apply
    },
  })
}
