import { expect, test } from 'vitest'
import { deployDetails, historyTable } from '../../../cli/terminal/print-history.ts'
import { compile, type Plan } from '../../../compiler/index.ts'
import { toManifests } from '../../../constructs/index.ts'
import { deployEnvironment } from '../../../environment/apply/deploy.ts'
import type { Clock } from '../../../environment/clock.ts'
import { NO_CHOICES } from '../../../environment/plan/choices.ts'
import { type ChangeList, type ChangeOrigin, readChangeLists } from '../../../environment/record/change-lists.ts'
import { readRecord } from '../../../environment/record/record.ts'
import { createHost } from '../../../project/node-host.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { MemoryCluster } from '../../support/memory-cluster/memory-cluster.ts'

// The tests read end and changes of a deploy from its history.

const compose = (version: number, more = '') => `
name: shop
services:
  migrate: {image: "busybox:${version}", restart: "no"}
  api:
    image: busybox:${version}
    depends_on: {migrate: {condition: service_completed_successfully}}
${more}`

function planOf(text: string): Plan {
  const folder = makeFolder({ 'compose.yaml': text })
  const { plan, diagnostics } = compile({ workingDirectory: folder, namespace: 'ns' }, createHost({ env: {} }))
  if (!plan) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return plan
}

const clock: Clock = { now: () => Date.parse('2026-01-02T00:00:00Z'), every: () => () => {} }
const AT = '2026-01-02T00:00:00.000Z'
const known = (origin: ChangeOrigin) => ({
  shownFile: () => undefined,
  commit: Promise.resolve(origin),
  change: Promise.resolve(origin),
})

/** Deploys to a cluster in which each created Job gets this condition at once. */
function deploy(
  cluster: MemoryCluster,
  text: string,
  {
    job = 'Complete',
    signal = new AbortController().signal,
    origin = known({}),
    done = () => {},
  }: {
    readonly job?: string
    readonly signal?: AbortSignal
    readonly origin?: ReturnType<typeof known>
    readonly done?: (change: string) => void
  } = {},
) {
  const events = {
    planned() {},
    locked() {},
    waiting() {},
    status() {},
    applied() {},
    routed() {},
    watching() {},
    done(action: string, name: string) {
      done(`${action} ${name}`)
      const [kind, short = ''] = name.split('/')
      const isMade = action === 'create' || action === 'replace'
      if (kind !== 'job' || !isMade) return
      const status = { conditions: [{ type: job, status: 'True' }] }
      cluster.act(
        { apiVersion: 'batch/v1', kind: 'Job', name: short, namespace: 'ns' },
        live => ({ ...live, status }),
        'x',
      )
    },
  }
  const input = {
    cluster,
    plan: planOf(text),
    synth: (plan: Plan) => toManifests(plan),
    namespace: 'ns',
    source: { repository: 'shop', file: 'compose.yaml' },
    choices: NO_CHOICES,
    services: undefined,
    holder: { name: 'ann@laptop (1)', isGone: () => false },
    wait: false,
    origin,
  }
  return deployEnvironment(input, { clock, events, signal })
}

const record = (cluster: MemoryCluster) => readRecord(cluster, 'shop', 'ns', {})
const lists = async (cluster: MemoryCluster) => readChangeLists((await record(cluster))?.history)
const names = (changes: ChangeList['unapplied'] = []) =>
  changes.map(({ action, object }) => `${action} ${object.replace(/-[0-9a-f]{8}$/, '-HASH')}`).sort()

test('the change list of a complete deploy has no `end`', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  await deploy(cluster, compose(1))
  const [list] = await lists(cluster)
  expect(list).not.toHaveProperty('end')
  expect(list).not.toHaveProperty('unapplied')
  expect(names(list?.changes)).toEqual(expect.arrayContaining(['create deployment/api', 'create job/migrate-HASH']))
})

test('a deploy in which a Job fails ends as failed, and lists unapplied changes separately', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  await deploy(cluster, compose(1, '  old: {image: busybox}\n'))
  const { failures } = await deploy(cluster, compose(2), { job: 'Failed' })
  expect(failures).not.toEqual([])
  const [list] = await lists(cluster)
  expect(list?.end).toBe('failed')
  expect(names(list?.changes)).toEqual([
    'create job/migrate-HASH',
    'delete job/migrate-HASH',
    'update role/shop-waits-for-migrate',
  ])
  expect(names(list?.unapplied)).toEqual(['delete deployment/old', 'delete service/old', 'update deployment/api'])
  expect(historyTable([list!], clock.now())).toMatch(
    / 1 created, 1 updated, 1 deleted, 3 not applied \(failed\) +api, migrate\n$/,
  )
  const text = await deployDetails(list!, clock.now(), false)
  expect(text).toMatch(/^Deploy 2, just now by ann@laptop.*: failed\n/)
  expect(text).toMatch(/^ {3}deployment\/api +not applied: it was to be updated$/m)
  expect(text).not.toMatch(/^ [~-] deployment/m)
  await deploy(cluster, compose(2))
  const [next] = await lists(cluster)
  expect(next).not.toHaveProperty('end')
  expect(names(next?.changes)).toEqual(expect.arrayContaining(['update deployment/api', 'delete deployment/old']))
})

test('a deploy ends as failed if an object is refused', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  cluster.before = ({ verb, kind, dryRun }) => {
    if (verb === 'patch' && kind === 'Deployment' && !dryRun) throw new Error('no')
  }
  await expect(deploy(cluster, compose(1))).rejects.toThrow('no')
  const [list] = await lists(cluster)
  expect(list).toMatchObject({ end: 'failed', unapplied: [{ action: 'create', object: 'deployment/api' }] })
})

test.each([
  ['interrupted', new DOMException('stop', 'AbortError')],
  ['failed', new DOMException('late', 'TimeoutError')],
])('a deploy that ends early is listed as %s', async (end, reason) => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const stop = new AbortController()
  const done = (change: string) => change.startsWith('create job/') && stop.abort(reason)
  await deploy(cluster, compose(1), { job: 'Suspended', signal: stop.signal, done }).catch(() => undefined)
  const [list] = await lists(cluster)
  expect(list?.end).toBe(end)
  expect(names(list?.unapplied)).toEqual(['create deployment/api'])
  expect(await cluster.list({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' })).toEqual([])
})

test('the end of a deploy that runs or was killed is listed as unknown', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  const seen: (readonly ChangeList[])[] = []
  cluster.before = async ({ verb, kind, dryRun }) => {
    if (verb === 'patch' && kind === 'Deployment' && !dryRun) seen.push(await lists(cluster))
  }
  await deploy(cluster, compose(1))
  const [list] = seen[0]!
  expect(list?.end).toBe('unknown')
  expect(historyTable([list!], clock.now())).toContain(' (end not known) ')
  expect(await deployDetails(list!, clock.now(), false)).toMatch(/: .*killed.* may not be applied$/m)
})

test('a Job that was deleted but could not be created again is listed as deleted', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  await deploy(cluster, compose(1), { job: 'Failed' })
  cluster.before = ({ verb, kind, dryRun }) => {
    if (verb === 'patch' && kind === 'Job' && !dryRun) throw new Error('no')
  }
  await deploy(cluster, compose(1)).catch(() => undefined)
  const [list] = await lists(cluster)
  expect(list?.end).toBe('failed')
  expect(list?.changes).toMatchObject([{ action: 'delete', consequence: 'deleted, and not created again' }])
  expect(names(list?.unapplied)).toEqual(['create deployment/api'])
})

test('uncommitted changes are recorded when git reports them, also after the first object', async () => {
  const cluster = new MemoryCluster({ namespace: 'ns' })
  let tell: (origin: ChangeOrigin) => void = () => {}
  const late = new Promise<ChangeOrigin>(resolve => {
    tell = resolve
  })
  const commit = 'b0b9c47aaaa'
  const begun: (readonly ChangeList[])[] = []
  cluster.before = async ({ verb, kind, dryRun }) => {
    if (verb !== 'patch' || kind !== 'Deployment' || dryRun) return
    begun.push(await lists(cluster))
    tell({ commit, isDirty: true })
  }
  const origin = { ...known({ commit, isUnchecked: true }), change: late }
  await deploy(cluster, compose(1), { origin })
  expect(begun[0]?.[0]).toMatchObject({ commit, isUnchecked: true })
  const [list] = await lists(cluster)
  expect(list).toMatchObject({ commit, isDirty: true })
  expect(list).not.toHaveProperty('isUnchecked')
})

test.each([
  [{}, 'b0b9c47 '],
  [{ isDirty: true }, 'b0b9c47+ '],
  [{ isUnchecked: true }, 'b0b9c47? '],
])('the commit with %j is printed as `%s`', async (more, text) => {
  const list = { number: 1, by: 'ann', at: AT, commit: 'b0b9c47aaaa', ...more, changes: [] }
  expect(historyTable([list], clock.now())).toContain(`  ${text} `)
})
