import { describe, expect, test } from 'vitest'
import { fromDeletion, toDeletion } from '../../../../platform/records/deletion.ts'
import { fromNamespace, toNamespace } from '../../../../platform/records/namespace.ts'
import { decideDeletion, type RunBefore } from '../../../../platform/rules/runs/deletion.ts'
import { makeUlid, timeOfUlid } from '../../../../platform/rules/ulid.ts'
import type { ServerContext } from '../../../../platform/server/context.ts'
import { NamespaceDeletions } from '../../../../platform/server/namespaces/deletions.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'

const ID = makeUlid(1_700_000_000_123, Buffer.alloc(10, 7))

const run = (id: string, more: Partial<RunBefore> = {}): RunBefore => ({
  id,
  environment: 'shop',
  action: 'deploy',
  state: 'succeeded',
  repository: 'https://git.example.com/team/shop',
  found: { commit: 'a'.repeat(40) },
  isSettled: true,
  ...more,
})
const last = (id: string, more: Partial<RunBefore> = {}) => run(id, { action: 'destroy', deletion: ID, ...more })

describe('the deletion of a namespace', () => {
  const step = (...runs: readonly RunBefore[]) => {
    const { cancel, destroy, outcome } = decideDeletion(runs, ID)
    const ids = (some: readonly RunBefore[]) => some.map(({ id }) => id).join(' ')
    const end = typeof outcome === 'string' ? outcome : `failed ${outcome.failed.id}`
    return `${ids(cancel)}|${ids(destroy)}|${end}`
  }

  test.each<readonly [string, readonly RunBefore[], string]>([
    ['nothing was deployed by a run', [], '||gone'],
    ['what was deployed last is destroyed', [run('1'), run('2')], '|2|wait'],
    ['each environment is', [run('1'), run('2', { environment: 'blog' })], '|2 1|wait'],
    // A failed deploy may have created some of its objects.
    ['also where the deploy failed', [run('1', { state: 'failed' })], '|1|wait'],
    ['what was never cloned has left nothing', [run('1', { state: 'failed', found: {} })], '||gone'],
    ['what was destroyed since is not destroyed again', [run('1'), run('2', { action: 'destroy' })], '||gone'],
    ['but if that failed', [run('1'), run('2', { action: 'destroy', state: 'failed' })], '|1|wait'],
    ['and if it was deployed again', [run('1'), run('2', { action: 'destroy' }), run('3')], '|3|wait'],
    ['what goes on is cancelled first', [run('1'), run('2', { state: 'running' })], '2||wait'],
    ['and what waits', [run('1'), run('2', { state: 'queued', environment: 'blog' })], '2||wait'],
    ['what ends is waited for', [run('1'), run('2', { state: 'stopping' })], '||wait'],
    ['it is destroyed once', [run('1'), last('2', { state: 'queued', isSettled: false })], '||wait'],
    ['until its log is saved', [run('1'), last('2', { isSettled: false })], '||wait'],
    ['then the namespace can go', [run('1'), last('2')], '||gone'],
    ['a destroy that failed keeps it', [run('1'), last('2', { state: 'failed' })], '||failed 2'],
    ['one that somebody has cancelled, too', [run('1'), last('2', { state: 'cancelled' })], '||failed 2'],
    ['who may not deploy any more has no say', [run('1'), last('2', { state: 'refused' })], '||gone'],
    ['another attempt does it again', [run('1'), last('2', { state: 'failed', deletion: 'other' })], '|1|wait'],
    ['but not what the one before has done', [run('1'), last('2', { deletion: 'other' })], '||gone'],
    [
      'all are waited for before one that failed is told',
      [
        run('1'),
        run('2', { environment: 'blog' }),
        last('3', { state: 'failed' }),
        last('4', { environment: 'blog', state: 'running', isSettled: false }),
      ],
      '||wait',
    ],
  ])('decideDeletion takes the next step: %s', (_, runs, wanted) => {
    expect(step(...runs)).toBe(wanted)
    expect(step(...runs.toReversed()), 'the order does not matter').toBe(wanted)
  })
})

test('an unreadable personal namespace stays, delays no other deletion, and is logged once', async () => {
  const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
  const time = '2026-01-01T00:00:00Z'
  const more = { status: 'Deleting', owner: 'a'.repeat(16), created: time, lastActive: time, longerNames: [] } as const
  for (const [name, kind] of [
    ['ann', 'personal'],
    ['shop', 'namespace'],
  ] as const)
    await cluster.create(fromNamespace({ ...more, name, kind, deletion: { id: ID } }))
  const log: string[] = []
  const world = {
    ...{ cluster, clusterAs: () => cluster, settings: {}, now: () => 0 },
    log: ({ text }: { text: string }) => log.push(text),
  }
  const removed: string[] = []
  let isBroken = true
  const namespaces = {
    async find(name: string) {
      if (isBroken) throw new Error('no answer')
      const live = await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name })
      return { namespace: toNamespace(live!), members: [] }
    },
    remove: async ({ name }: { name: string }) => void removed.push(name),
  }
  const parts = { namespaces } as unknown as ConstructorParameters<typeof NamespaceDeletions>[1]
  const deletions = new NamespaceDeletions(world as unknown as ServerContext, parts)
  for (let look = 0; look < 2; look++) await deletions.run(AbortSignal.timeout(10_000))
  expect([removed, log]).toEqual([['shop', 'shop'], ['deleting ann: no answer']])
  isBroken = false
  await deletions.run(AbortSignal.timeout(10_000))
  expect(removed).toContain('ann')
})

test('toDeletion reads what fromDeletion wrote, and ignores invalid text', () => {
  for (const one of [
    { id: ID },
    { id: ID, isForced: true },
    { id: ID, waits: 'x' },
    { id: ID, problem: 'the destroy of shop failed' },
  ])
    expect(toDeletion(fromDeletion(one))).toEqual(one)
  for (const text of [undefined, '', 'null', '[]', '{"id":7}', '{"id":"../x"}'])
    expect(toDeletion(text)).toBeUndefined()
})

test('timeOfUlid returns the time of a ULID', () => {
  expect(timeOfUlid(ID)).toBe(1_700_000_000_123)
})
