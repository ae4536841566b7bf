import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { KnownSecrets } from '../../../../compiler/values/secrets/known-secrets.ts'
import {
  type ChangeList,
  lastDeploy,
  readChangeLists,
  recordedChanges,
  withChangeList,
} from '../../../../environment/record/change-lists.ts'
import { deploy, newCluster, object, plan, wanted, workload } from '../../../support/objects/deploying.ts'

const AT = '2026-01-02T00:00:00.000Z'
const list = (changes: ChangeList['changes'] = []): Omit<ChangeList, 'number'> => ({ by: 'ann', at: AT, changes })
const change = (text: string): ChangeList['changes'][number] => ({
  action: 'update',
  object: 'deployment/web',
  service: 'web',
  values: [{ path: 'spec.replicas', before: text, after: '2' }],
})

test('change lists are numbered, the newest is first, and the last ten are kept', () => {
  let packed: string | undefined
  for (let count = 0; count < 12; count++) packed = withChangeList(packed, list([change(`${count}`)]))
  const read = readChangeLists(packed)
  expect(read.map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
  expect(read[0]).toEqual({ number: 12, by: 'ann', at: AT, changes: [change('11')] })
})

test('change lists stay below 64 KiB: older ones are dropped, and the last one is shortened', () => {
  const noise = (count: number) => Array.from({ length: count }, () => change(randomBytes(100).toString('hex')))
  const two = withChangeList(withChangeList(undefined, list(noise(300))), list(noise(300)))
  expect(two.length).toBeLessThanOrEqual(64 * 1024)
  expect(readChangeLists(two)).toHaveLength(1)
  const one = withChangeList(undefined, list(noise(3000)))
  expect(one.length).toBeLessThanOrEqual(64 * 1024)
  const [{ changes, left = 0 } = { changes: [], left: 0 }] = readChangeLists(one)
  expect(changes.length).toBeGreaterThan(100)
  expect(changes.length + left).toBe(3000)
})

const gzip = (text: string) => gzipSync(text).toString('base64')

test.each([
  ['nothing', undefined],
  ['no gzip', 'aGVsbG8='],
  ['no base64', '💣'],
  ['no JSON', gzip('{')],
  ['something else', gzip('{"number": 1}')],
  ['a wrong type in a list', gzip(JSON.stringify([{ number: 1, by: {}, at: AT, changes: [] }]))],
  ['a number that is none', gzip(JSON.stringify([{ number: 1e300, by: 'a', at: AT, changes: [] }]))],
  ['a bomb', gzip(`[${' '.repeat(50 * 1024 * 1024)}]`)],
  ['a long text', 'A'.repeat(10 * 1024 * 1024)],
])('%s is no history, and the next deploy begins a new one', (_, packed) => {
  expect(readChangeLists(packed)).toEqual([])
  expect(readChangeLists(withChangeList(packed, list()))).toMatchObject([{ number: 1 }])
})

test('a list that is longer than a deploy writes is read up to the limits', () => {
  const values = Array.from({ length: 5000 }, () => ({ path: 'x'.repeat(1000), junk: [1, 2, 3] }))
  const changes = Array.from({ length: 250 }, (_, index) => ({
    action: 'create',
    object: `deployment/web-${index}`,
    values: index === 0 ? values.slice(0, 300) : [],
  }))
  const [read] = readChangeLists(gzip(JSON.stringify([{ number: 1, by: 'eve', at: AT, changes, left: 2, junk: {} }])))
  expect(read?.changes).toHaveLength(200)
  expect(read?.left).toBe(52)
  expect(read?.changes[0]?.values).toHaveLength(50)
  expect(read?.changes[0]?.values[0]).toEqual({ path: expect.stringMatching(/^x{499}…$/) })
  expect(read).not.toHaveProperty('junk')
})

test('lists with many short values are read up to the limit of values', () => {
  const values = Array.from({ length: 50 }, () => ({ path: '' }))
  const changes = Array.from({ length: 150 }, () => ({ action: 'create', object: '', values }))
  const lists = Array.from({ length: 8 }, (_, index) => ({ number: 8 - index, by: '', at: AT, changes }))
  expect(readChangeLists(gzip(JSON.stringify(lists))).map(({ number }) => number)).toEqual([8])
})

test('lastDeploy is the newest list without its changes', () => {
  const packed = withChangeList(undefined, { ...list([change('1')]), branch: 'main', left: 3 })
  expect(lastDeploy(packed)).toEqual({ number: 1, by: 'ann', at: AT, branch: 'main' })
  expect(lastDeploy(undefined)).toBeUndefined()
})

const template = (env: readonly object[], image: string) => ({
  spec: { replicas: 1, template: { spec: { containers: [{ name: 'web', image, args: [`--key=${image}`], env }] } } },
})
const config = (value: string) => object('ConfigMap', 'settings', { data: { 'app.conf': value, port: value } })

test('recordedChanges has paths, and no values of variables, commands and files', async () => {
  const cluster = newCluster()
  const before = [{ name: 'GREETING', value: 'hello-old' }]
  const after = [
    { name: 'GREETING', value: 'hello-new' },
    { name: 'OTHER', value: 'other-value' },
  ]
  await deploy(
    cluster,
    wanted(
      [config('config-old')],
      [workload('Deployment', 'web', template(before, 'web:1')), workload('Deployment', 'worker', template([], 'x'))],
    ),
  )
  const changes = await plan(
    cluster,
    wanted([config('config-new')], [workload('Deployment', 'web', template(after, 'registry/hunter2/web:2'))]),
  )
  const secrets = new KnownSecrets()
  secrets.add(['hunter2'])
  const recorded = recordedChanges(changes, secrets)
  expect(recorded.changes).toEqual([
    {
      action: 'update',
      object: 'configmap/settings',
      values: [
        { path: 'data[app.conf]', masked: 'changed' },
        { path: 'data.port', masked: 'changed' },
      ],
    },
    {
      action: 'update',
      object: 'deployment/web',
      service: 'web',
      values: expect.arrayContaining([
        { path: 'spec.template.spec.containers[web].env[GREETING].value', masked: 'changed' },
      ]),
    },
    {
      action: 'delete',
      object: 'deployment/worker',
      service: 'worker',
      values: [],
      consequence: 'removed from the Compose file',
    },
  ])
  const text = JSON.stringify(recorded)
  expect(text).toContain('spec.template.spec.containers[web].image')
  expect(text).toMatch(/OTHER/)
  expect(text).not.toMatch(/hunter2|hello-|other-value|config-|--key/)
})
