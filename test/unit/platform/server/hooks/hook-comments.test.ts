import { expect, test } from 'vitest'
import type { HookRecord } from '../../../../../platform/records/hook.ts'
import type { RunRecord } from '../../../../../platform/records/run.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { HookComments } from '../../../../../platform/server/hooks/hook-comments.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const commit = 'c'.repeat(40)
const hookId = 'h'.repeat(16)
const replaced = { id: '1', commit, hook: hookId, state: 'replaced', isSettled: true }
const byPerson = { id: '2', state: 'succeeded', isSettled: true, found: { commit: 'd'.repeat(40) } }

/** Returns the comments that are written while the preview has these runs, the newest first, and the recorded state. */
async function commentsOn(runs: readonly object[]) {
  const deployed = { commit, trust: 'repository' }
  const comment = { id: 5, told: `deploys ${commit}` }
  const pull = { number: 7, page: 'https://git.example.com/7', author: 'ann', commit, trust: 'repository' }
  let hook = {
    ...{ id: hookId, owner: 'a'.repeat(16), prefix: 'shop-', look: [], seen: [] },
    pulls: [{ ...pull, deployed, comment }],
  } as unknown as HookRecord
  const written: string[] = []
  let now = 0
  const world = {
    ...{ cluster: new MemoryCluster(), now: () => now },
    settings: { url: 'https://p.example.com', domain: 'dev.example.com' },
    log: ({ text }: { readonly text: string }) => expect.fail(text),
  } as unknown as ServerContext
  const all = runs.map(run => ({ action: 'deploy', namespaceUid: 'u', found: {}, ...run }) as unknown as RunRecord)
  const parts = {
    hooks: {
      list: async () => [hook],
      comment: async (_: HookRecord, __: number, { body }: { readonly body: string }) => {
        written.push(body.split('\n')[0]!)
        return 5
      },
      change: async (_: string, edit: (hook: HookRecord) => object) => {
        hook = { ...hook, ...edit(hook) }
      },
    },
    namespaces: {
      find: async () => ({
        namespace: { name: 'shop-pr-7', uid: 'u', preview: { hook: hookId }, longerNames: [] },
      }),
    },
    runs: { list: async () => all },
  } as unknown as ConstructorParameters<typeof HookComments>[1]
  const comments = new HookComments(world, parts)
  for (let pass = 0; pass < 3; pass++) {
    await comments.run(AbortSignal.timeout(5000))
    await comments.settled()
    now += 10_000
  }
  return { written, told: hook.pulls[0]!.comment?.told }
}

test.each([
  ['succeeded', '✅ ready, commit `dddddddddddd`'],
  ['failed', '❌ failed, commit `dddddddddddd`'],
])('a deploy of a person that replaces the one of the webhook, and has %s, is reported', async (state, text) => {
  const { written, told } = await commentsOn([{ ...byPerson, state }, replaced])
  expect(written).toEqual([expect.stringContaining(text)])
  expect(told).toBe(`deployed ${commit}`)
})

test('the comment waits for the deploy of a person that still runs', async () => {
  const { written, told } = await commentsOn([{ ...byPerson, state: 'running', isSettled: false }, replaced])
  expect([written, told]).toEqual([[], `deploys ${commit}`])
})

test('the newer deploy of a webhook reports its own result', async () => {
  const newer = { ...byPerson, hook: hookId, commit: 'd'.repeat(40) }
  expect((await commentsOn([newer, replaced])).written).toEqual([])
})

test('a replaced deploy without another one is not reported', async () => {
  expect((await commentsOn([replaced])).written).toEqual([])
})
