import { describe, expect, test } from 'vitest'
import { Slots } from '../../../adapters/http/slots.ts'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { Cursor } from '../../../environment/logs/cursor.ts'
import { compareTimes, formatTime, parseLine } from '../../../environment/logs/line.ts'
import { isFinished, runOf, sourcesOf } from '../../../environment/logs/source.ts'

describe('parseLine', () => {
  test.each([
    ['2026-01-31T12:00:00.123456789Z hello', '2026-01-31T12:00:00.123456789Z', 'hello'],
    ['2026-01-31T12:00:00.5Z  indented', '2026-01-31T12:00:00.500000000Z', ' indented'],
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000000000Z', ''],
    ['2026-01-31T12:00:00.1+02:00 east', '2026-01-31T10:00:00.100000000Z', 'east'],
  ])('parseLine splits a line into time and text: %s', (raw, time, text) => {
    const line = parseLine(raw)
    expect(line && { time: formatTime(line.time), text: line.text }).toEqual({ time, text })
  })

  test.each(['hello', '', '2026-01-31 12:00:00 hello', '2026-01-31T12:00:00.1Zhello', '2026-13-41T12:00:00Z x'])(
    'parseLine rejects a line without a time: %s',
    raw => {
      expect(parseLine(raw)).toBeUndefined()
    },
  )

  test('compareTimes orders lines by nanoseconds', () => {
    const time = (raw: string) => parseLine(raw)!.time
    expect(compareTimes(time('2026-01-31T12:00:00.1Z'), time('2026-01-31T12:00:00.100000001Z'))).toBeLessThan(0)
    expect(compareTimes(time('2026-01-31T12:00:01Z'), time('2026-01-31T12:00:00.9Z'))).toBeGreaterThan(0)
  })
})

describe('Cursor', () => {
  const at = (nanos: number, seconds = 100) => ({ seconds, nanos })

  test('a cursor takes everything until it is rewound', () => {
    const cursor = new Cursor()
    expect(cursor.since).toBeUndefined()
    expect([at(2), at(1), at(1)].map(time => cursor.take(time))).toEqual([true, true, true])
    expect(cursor.since).toBe('1970-01-01T00:01:40.000Z')
  })

  test('a cursor skips repeated lines, as often as they came, in any order', () => {
    const cursor = new Cursor()
    for (const time of [at(5), at(7), at(6), at(7)]) cursor.take(time)
    cursor.rewind()
    const again = [at(1), at(5), at(7), at(6), at(7), at(7), at(8)]
    expect(again.map(time => cursor.take(time))).toEqual([false, false, false, false, false, true, true])
  })

  test('a cursor takes a late line between two known ones', () => {
    const cursor = new Cursor()
    for (const time of [at(5), at(9)]) cursor.take(time)
    cursor.rewind()
    expect([at(5), at(7), at(9)].map(time => cursor.take(time))).toEqual([false, true, false])
  })

  test('a cursor remembers only the last lines, and does not take older ones again', () => {
    const cursor = new Cursor()
    for (let index = 0; index < 1000; index++) cursor.take(at(index))
    cursor.rewind()
    const again = Array.from({ length: 1005 }, (_, index) => cursor.take(at(index)))
    expect(again.flatMap((isNew, index) => (isNew ? [index] : []))).toEqual([1000, 1001, 1002, 1003, 1004])
  })
})

test('slots are passed on in order, and a waiter that gives up is skipped', async () => {
  let full = 0
  const slots = new Slots(1, () => full++)
  const order: string[] = []
  let release = () => {}
  const signal = new AbortController().signal
  const first = slots.run(signal, () => new Promise<void>(resolve => (release = resolve)))
  const impatient = new AbortController()
  const second = slots.run(impatient.signal, async () => order.push('second'))
  const third = slots.run(signal, async () => order.push('third'))
  impatient.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  release()
  await Promise.all([first, third])
  expect({ order, full }).toEqual({ order: ['third'], full: 2 })
  await slots.run(signal, async () => order.push('fourth'))
  expect({ order, full }).toEqual({ order: ['third', 'fourth'], full: 2 })
})

describe('the containers of a Pod', () => {
  const pod = (name: string, labels: Record<string, string>, spec: object, more: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', labels, ...more },
    spec,
  })
  const names = (object: KubeObject) => sourcesOf(object).map(({ service, name }) => `${service}: ${name}`)
  const ours = { 'dev.platform/service': 'api', 'app.kubernetes.io/managed-by': 'devctl' }

  test('our Pods have helpers under the service, and sidecars and members as own services', () => {
    const spec = {
      initContainers: [{ name: 'fill-data' }, { name: 'proxy', restartPolicy: 'Always' }],
      containers: [{ name: 'api' }, { name: 'metrics' }],
    }
    expect(names(pod('api-7d4978f8bf-j2fnt', ours, spec))).toEqual([
      'api: api-j2fnt/fill-data',
      'proxy: proxy-j2fnt',
      'api: api-j2fnt',
      'metrics: metrics-j2fnt',
    ])
  })

  test('other Pods have a service by label or owner, and the whole name of the Pod', () => {
    const one = { containers: [{ name: 'main' }] }
    const two = { containers: [{ name: 'main' }, { name: 'side' }] }
    const owned = (kind: string, name: string) => ({
      ownerReferences: [{ apiVersion: 'v1', kind, name, uid: '1', controller: true }],
    })
    expect(names(pod('shop-redis-0', { 'app.kubernetes.io/name': 'redis' }, one))).toEqual(['redis: shop-redis-0'])
    expect(names(pod('web-5f-abc', {}, two, owned('ReplicaSet', 'web-5f')))).toEqual([
      'web: web-5f-abc/main',
      'web: web-5f-abc/side',
    ])
    expect(names(pod('agent-x', {}, one, owned('DaemonSet', 'agent')))).toEqual(['agent: agent-x'])
    expect(names(pod('lonely', {}, one))).toEqual(['lonely: lonely'])
  })

  test('runOf returns the newest run of a container', () => {
    const status = (state: object, lastState: object = {}): KubeObject => ({
      ...pod('api-0', ours, {}),
      status: { containerStatuses: [{ name: 'api', restartCount: 1, containerID: 'now', state, lastState }] },
    })
    const ended = (containerID: string, exitCode = 3) => ({ terminated: { containerID, exitCode, reason: 'Error' } })
    const exit = { code: 3, reason: 'Error' }
    expect(runOf(status({ waiting: {} }), 'api')).toBeUndefined()
    expect(runOf(status({ waiting: {} }), 'other')).toBeUndefined()
    expect(runOf(status({ running: {} }), 'api')).toEqual({ id: 'now', isRunning: true, previous: undefined })
    expect(runOf(status({ running: {} }, ended('old')), 'api')).toEqual({ id: 'now', isRunning: true, previous: exit })
    expect(runOf(status(ended('now'), ended('old')), 'api')).toEqual({
      id: 'now',
      isRunning: false,
      exit,
      previous: exit,
    })
    // The container is in its back-off: the log is that of the last run, with no run before it.
    expect(runOf(status({ waiting: {} }, ended('old')), 'api')).toEqual({ id: 'old', isRunning: false, exit })
  })

  test.each([
    ['Running', false],
    ['Pending', false],
    ['Succeeded', true],
    ['Failed', true],
  ])('isFinished of a Pod in phase %s is %s', (phase, expected) => {
    expect(isFinished({ ...pod('api-0', ours, {}), status: { phase } })).toBe(expected)
  })
})
