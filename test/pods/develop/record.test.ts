import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OperationEvent } from '../../../api/events.ts'
import type { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { valueAt } from '../../../environment/record/up-record.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { NO_NODE } from './no-node.ts'
import { DEPLOYMENT, give, openPlace, type Place, pendingDeployment, takeOne, withoutServerFields } from './taking.ts'

// Every user who may edit the application can damage the record that `up` keeps in it.

const ANNOTATION = 'dev.platform/up'
const LABELS = { 'dev.platform/up': null }

describe.skipIf(!process.env.KUBECONFIG)('a record of `up` that was edited by hand', () => {
  let place: Place
  beforeAll(async () => {
    place = await openPlace('record')
  })
  afterAll(() => place?.close())

  const annotate = (name: string, text: string | null, metadata: object = {}) =>
    place.cluster.patch(
      { ...DEPLOYMENT(name), namespace: place.namespace },
      { metadata: { ...metadata, annotations: { [ANNOTATION]: text } } },
      { manager: 'kubectl-annotate' },
    )
  const recordOf = async (name: string) => (await place.get(DEPLOYMENT(name)))?.metadata.annotations?.[ANNOTATION]
  const taken = async (name: string) => {
    const one = await takeOne(place.session(), DEPLOYMENT(name), { name })
    await one.release()
    return JSON.parse((await recordOf(name))!) as object
  }
  const replicas = async (name: string) => valueAt(await place.get(DEPLOYMENT(name)), ['spec', 'replicas'])
  const caught = (work: Promise<unknown>): Promise<UserError> =>
    work.then(
      () => Promise.reject(new Error('it was done')),
      error => error,
    )

  test('down restores the original from the copy in the mirror if the record is damaged or missing', async () => {
    const name = 'copied'
    await place.apply(pendingDeployment(name))
    const before = withoutServerFields(await place.get(DEPLOYMENT(name)))
    const path = ['spec', 'replicas']
    const spoils: readonly ((record: object) => string | null)[] = [
      () => '{wrong',
      () => null,
      record => JSON.stringify({ ...record, before: [{ path, value: -1 }] }),
      record => JSON.stringify({ ...record, before: [{ path: ['spec', 'paused'], value: true }] }),
      record => JSON.stringify({ ...record, before: undefined }),
      record => JSON.stringify({ ...record, before: [{ path, value: 1_000_000_000 }] }),
    ]
    for (const spoil of few(spoils, 2)) {
      await annotate(name, spoil(await taken(name)))
      expect(await give(place.session(), name)).toEqual({ wasActive: true, restored: `deployment/${name}` })
      expect(withoutServerFields(await place.get(DEPLOYMENT(name)))).toEqual(before)
    }
  })

  longTest('the next `up` keeps the original replica count after the record was damaged', async () => {
    const name = 'again'
    await place.apply(pendingDeployment(name))
    await taken(name)
    for (const text of ['{wrong', null]) {
      await annotate(name, text)
      expect(await taken(name)).toMatchObject({ before: [{ path: ['spec', 'replicas'], value: 2 }] })
    }
    await give(place.session(), name)
    expect(await replicas(name)).toBe(2)
  })

  test('down without a copy of the record changes nothing and suggests a command that works', async () => {
    const name = 'lost'
    await place.apply(pendingDeployment(name))
    await taken(name)
    await annotate(name, '{wrong')
    await annotate(`${name}-dev`, 'wrong, too')
    const refused = await caught(give(place.session(), name))
    expect(refused.message).toMatch(/^what `up` has noted in `deployment\/lost` cannot be read: /)
    expect(await place.get(DEPLOYMENT(`${name}-dev`))).toBeDefined()
    expect(await place.get({ apiVersion: 'v1', kind: 'Secret', name: `${name}-dev-session` })).toBeDefined()
    expect(await caught(taken(name))).toMatchObject({ message: refused.message })
    await place.cluster.delete({ ...DEPLOYMENT(`${name}-dev`), namespace: place.namespace })
    await eventually('the mirror is gone', async () => !(await place.get(DEPLOYMENT(`${name}-dev`))) || undefined)
    const { hint = '' } = await caught(give(place.session(), name))
    const [, line = ''] = /`(kubectl .*)`,/.exec(hint) ?? []
    execFileSync('sh', ['-c', line.replace('NUMBER', '3')])
    await give(place.session(), name)
    expect(await place.get(DEPLOYMENT(name))).toMatchObject({ spec: { replicas: 3 } })
    expect((await place.get(DEPLOYMENT(name)))?.metadata.labels ?? {}).toEqual({})
    expect(await place.get({ apiVersion: 'v1', kind: 'Secret', name: `${name}-dev-session` })).toBeUndefined()
  })

  test('up rewrites a damaged record, and ends if the label of the record is deleted', async () => {
    const name = 'kept'
    await place.apply(pendingDeployment(name))
    const events: OperationEvent[] = []
    const one = await takeOne(place.session(), DEPLOYMENT(name), { name }, {}, event => events.push(event))
    const watching = caught(one.watch(new AbortController().signal))
    const whole = await recordOf(name)
    const notes = () => events.filter(({ type }) => type === 'note').length
    for (const [index, text] of ['{wrong', '{"version":1}', null].entries()) {
      await annotate(name, text)
      await eventually('the record is whole', async () => (await recordOf(name)) === whole || undefined)
      // The note follows the server's answer.
      await eventually('that is said', async () => notes() > index || undefined)
    }
    expect(notes()).toBe(3)
    await annotate(name, null, { labels: LABELS })
    expect(await watching).toMatchObject({
      message: '`deployment/kept` was restored: `devctl down kept` has ended the mirror',
    })
    await one.release()
    await give(place.session(), name)
    expect(await replicas(name)).toBe(2)
  })

  longTest('up recreates a deleted mirror three times in a minute, and ends at the fourth', async () => {
    const name = 'made'
    await place.apply(pendingDeployment(name))
    const events: OperationEvent[] = []
    const one = await takeOne(place.session(), DEPLOYMENT(name), { name }, {}, event => events.push(event))
    const watching = caught(one.watch(new AbortController().signal))
    let uid: string | undefined
    const another = () =>
      eventually('there is another mirror', async () => {
        const there = await place.get(DEPLOYMENT(`${name}-dev`))
        const found = there?.metadata.uid !== uid && there?.metadata.deletionTimestamp === undefined
        return found ? there?.metadata.uid : undefined
      })
    for (let time = 0; time < 4; time++) {
      uid = await another()
      await place.cluster.delete({ ...DEPLOYMENT(`${name}-dev`), namespace: place.namespace })
    }
    expect(await watching).toMatchObject({ message: '`deployment/made-dev` was deleted more than 3 times in a minute' })
    expect(events.filter(({ type }) => type === 'note')).toEqual(
      Array(3).fill({ type: 'note', text: '`deployment/made-dev` was deleted: it was made again' }),
    )
    await one.release()
    await give(place.session(), name)
    expect(await replicas(name)).toBe(2)
  })

  longTest('up reverts three edits of a mirror in a minute, and only warns at the fourth', async () => {
    const name = 'edited'
    await place.apply(pendingDeployment(name))
    const events: OperationEvent[] = []
    const stop = new AbortController()
    const one = await takeOne(place.session(), DEPLOYMENT(name), { name }, {}, event => events.push(event))
    const watching = one.watch(stop.signal)
    const mirror = { ...DEPLOYMENT(`${name}-dev`), namespace: place.namespace }
    const spec = async () => {
      const live = await place.get(mirror)
      const [first] = valueAt(live, ['spec', 'template', 'spec', 'containers']) as readonly { image: string }[]
      return { replicas: valueAt(live, ['spec', 'replicas']), image: first!.image }
    }
    const before = await spec()
    expect(before.replicas).toBe(1)
    const image = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'busybox:1.36' }]
    const kubectl = (...words: readonly string[]) =>
      execFileSync('kubectl', ['--namespace', place.namespace, ...words], { stdio: 'pipe' })
    const edits = [
      () => kubectl('scale', 'deployment', mirror.name, '--replicas=0'),
      () => kubectl('patch', 'deployment', mirror.name, '--type=json', '-p', JSON.stringify(image)),
      () => kubectl('scale', 'deployment', mirror.name, '--replicas=2'),
    ]
    const notes = () => events.filter(({ type }) => type === 'note')
    for (const [index, edit] of edits.entries()) {
      edit()
      await eventually('it is as before', async () => notes().length === index + 1 || undefined)
      expect(await spec()).toEqual(before)
    }
    expect(notes()[1]).toEqual({
      type: 'note',
      text: '`kubectl-patch` has changed `deployment/edited-dev`: what `up` sets in it was set again; change the original, or `dev` of the manifest',
    })
    kubectl('scale', 'deployment', mirror.name, '--replicas=0')
    await eventually('it is warned', async () => events.some(({ type }) => type === 'warning') || undefined)
    expect((await spec()).replicas).toBe(0)
    stop.abort()
    await watching
    await one.release()
    await give(place.session(), name)
    expect(await replicas(name)).toBe(2)
  })

  longTest('up recreates a deleted Lease, and ends if another user takes the Lease', async () => {
    const name = 'leased'
    await place.apply(pendingDeployment(name))
    const one = await takeOne(place.session(), DEPLOYMENT(name), { name })
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: `devctl-up-deployment-${name}` }
    const { uid } = (await place.get(lease))!.metadata
    await place.cluster.delete({ ...lease, namespace: place.namespace })
    await eventually('there is another Lease', async () => {
      const there = await place.get(lease)
      return (there && there.metadata.uid !== uid) || undefined
    })
    expect(one.signal.aborted).toBe(false)
    const spec = { holderIdentity: 'bob@elsewhere (1)' }
    await place.cluster.patch({ ...lease, namespace: place.namespace }, { spec }, { manager: 'kubectl-edit' })
    await eventually('it is lost', async () => one.signal.aborted || undefined)
    expect(one.signal.reason).toMatchObject({ message: 'somebody else has taken over `deployment/leased`' })
    await one.release()
    await give(place.session(), name)
    expect(await replicas(name)).toBe(2)
  })

  longTest('down restores the replica count although the record names an invalid owner version', async () => {
    const name = 'owner'
    await place.apply(pendingDeployment(name))
    const record = (await taken(name)) as { owners: readonly object[] }
    for (const apiVersion of few(['nonsense/v9', '', 'no version'], 2)) {
      const owners = record.owners.map(owner => ({ ...owner, apiVersion }))
      await annotate(name, JSON.stringify({ ...record, owners }))
      expect(await give(place.session(), name)).toEqual({ wasActive: true, restored: `deployment/${name}` })
      expect(await replicas(name)).toBe(2)
      expect(await recordOf(name)).toBeUndefined()
      await taken(name)
    }
    await give(place.session(), name)
  })

  longTest('up recreates a deleted Secret and a deleted claim of its mirror', async () => {
    const name = 'needed'
    await place.apply(pendingDeployment(name))
    const stop = new AbortController()
    const one = await takeOne(place.session(), DEPLOYMENT(name), { name })
    const watching = one.watch(stop.signal)
    const [secret, claim] = [
      { apiVersion: 'v1', kind: 'Secret', name: `${name}-dev-session` },
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: `${name}-dev` },
    ]
    for (const ref of [secret, claim]) {
      const { uid } = (await place.get(ref))!.metadata
      await place.cluster.delete({ ...ref, namespace: place.namespace })
      // A Pod that uses the claim keeps it: the claim is deleted with the Pod.
      await place.cluster.delete({ ...DEPLOYMENT(`${name}-dev`), namespace: place.namespace })
      await eventually(`there is another ${ref.kind}`, async () => {
        const there = await place.get(ref)
        return (there && there.metadata.uid !== uid) || undefined
      })
    }
    stop.abort()
    await watching
    await one.release()
    await give(place.session(), name, true)
    expect(await place.get(secret)).toBeUndefined()
    // The protection of the claim ends a moment after its Pods.
    await eventually('the claim is gone', async () => !(await place.get(claim)) || undefined)
  })

  longTest('up does not recreate a mirror that `down` on another machine deletes', async () => {
    for (const name of ['other', undefined]) {
      if (name) await place.apply(pendingDeployment(name))
      const own = name ?? 'alone'
      const more = name ? { name } : { name: own, autocreate: true, image: 'busybox:1.37', nodeSelector: NO_NODE }
      const one = await takeOne(place.session(), name ? DEPLOYMENT(name) : undefined, more)
      const stop = new AbortController()
      const watching = one.watch(stop.signal).catch(error => error)
      await give(place.session(), own)
      if (name) expect(await watching).toMatchObject({ message: expect.stringContaining('was restored') })
      else stop.abort()
      await watching
      await one.release()
      expect(await place.get(DEPLOYMENT(`${own}-dev`))).toBeUndefined()
    }
  })
})
