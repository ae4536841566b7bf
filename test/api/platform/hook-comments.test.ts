import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { RUNS_NAMESPACE } from '../../../platform/records/names.ts'
import { HookComments } from '../../../platform/server/hooks/hook-comments.ts'
import { WebhookController } from '../../../platform/server/hooks/webhook-controller.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { openStubForge, REPOSITORY, type StubForge, type StubPull } from '../../support/platform/stub-forge.ts'

// Tests the comment on a pull request with a real API server. The node and the forge are stubs; gitea-hooks.test.ts
// has a real Gitea.

const found = findCluster()
const TOKEN = 'canary-hook-token'
const repository = 'https://git.example.com/team/shop'
const sha = (digit: string) => digit.repeat(40)
const own = { id: REPOSITORY, path: 'team/shop', owner: 9 }
const bob = { id: 52, login: 'bob' }
const fork = { id: 152, path: 'bob/shop', owner: 52 }

describe.skipIf(!found)('the comment of a webhook', () => {
  let platform: TestPlatform
  let forge: StubForge
  let keeper: WebhookController
  let comments: HookComments
  let runs: RunController
  let owner: Person
  let hook: { readonly id: string; readonly secret: string }
  let number = 0
  /** Log output of a run. */
  let said: readonly string[] = []
  const prefix = `c-${RUN}-`
  const signal = new AbortController().signal

  beforeAll(async () => {
    forge = await openStubForge()
    forge.tokens.set(TOKEN, true)
    platform = await openPlatform({
      previewsPerUser: 40,
      forges: [{ kind: 'gitea', url: 'https://git.example.com', api: forge.api }],
    })
    owner = await platform.person('owner')
    keeper = new WebhookController(platform.world, platform.parts)
    comments = new HookComments(platform.world, platform.parts)
    runs = new RunController({ ...platform.world, cluster: withNode(platform.world.cluster) }, platform.parts)
    const body = { repository, token: TOKEN, prefix }
    const made = await platform.call('POST /hooks', { token: owner.token, body })
    expect(made.status, made.error?.message).toBe(200)
    hook = { id: made.body.hook.id, secret: made.body.secret! }
  })
  afterAll(async () => {
    forge?.close()
    if (!platform) return
    for (const one of await platform.parts.hooks.list()) await platform.parts.hooks.remove(one)
    await platform.close()
  })

  /** Returns the cluster with a node that has the logs. */
  const withNode = (cluster: Cluster): Cluster =>
    new Proxy(cluster, {
      get(target, key) {
        if (key === 'logs')
          return async function* (_: unknown, { container }: { readonly container: string }) {
            for (const line of container === 'run' ? said : []) yield `2026-01-01T00:00:00.5Z ${line}`
          }
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })

  /** Adds a pull request that no other test uses; returns its number. */
  function pull(more: Partial<StubPull> = {}): number {
    const one = ++number
    forge.pulls.set(one, { state: 'open', sha: sha('a'), branch: 'feature', author: bob, head: own, ...more })
    return one
  }
  async function deliver(one: number): Promise<void> {
    const text = JSON.stringify({
      now: randomUUID(),
      pull_request: { number: one },
      repository: { id: REPOSITORY },
    })
    const { statusCode } = await platform.app.inject({
      method: 'POST',
      url: `/api/v1/hooks/gitea/${hook.id}`,
      payload: text,
      headers: {
        'content-type': 'application/json',
        'x-gitea-signature': createHmac('sha256', hook.secret).update(text).digest('hex'),
      },
    })
    expect(statusCode).toBe(204)
  }
  const nameOf = (one: number) => `${prefix}pr-${one}`
  const push = (one: number, to: string) => forge.pulls.set(one, { ...forge.pulls.get(one)!, sha: to })
  const look = async () => {
    await keeper.run(signal)
    await keeper.settled()
  }
  const tell = async () => {
    await comments.run(signal)
    await comments.settled()
  }
  const on = (one: number) => forge.comments.filter(({ pull }) => pull === one).map(({ body }) => body)
  const told = (one: number, what: string) =>
    eventually(
      `it says ${what}`,
      async () => {
        await look()
        await tell()
        return on(one).at(-1)?.includes(what) ? true : undefined
      },
      { explain: async () => on(one).join('\n') },
    )
  const approve = (one: number, commit: string) =>
    platform.call('POST /previews/:name/approve', {
      token: owner.token,
      params: { name: nameOf(one) },
      body: { commit },
    })

  /** Sets the status of a Pod as a node does when the newest run of a preview has ended. */
  async function ends(one: number, isGood: boolean, lines: readonly object[]): Promise<void> {
    said = lines.map(line => JSON.stringify(line))
    const [newest] = await platform.parts.runs.list({ namespace: nameOf(one) })
    const { id } = newest!
    const pod = await eventually(`the Pod of ${id} is made`, async () => {
      await runs.run(signal)
      const labels = `batch.kubernetes.io/job-name=r-${id}`
      return (await platform.cluster.list({ apiVersion: 'v1', kind: 'Pod', namespace: RUNS_NAMESPACE, labels }))[0]
    })
    const container = (name: string, exitCode: number, message?: string) => ({
      name,
      image: 'x',
      imageID: 'x',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode, finishedAt: '2026-01-01T00:00:01Z', ...(message && { message }) } },
    })
    const status = {
      phase: isGood ? 'Succeeded' : 'Failed',
      containerStatuses: [
        container('clone', 0, JSON.stringify({ commit: forge.pulls.get(one)!.sha })),
        container('run', isGood ? 0 : 1),
      ],
    }
    const path = `/api/v1/namespaces/${RUNS_NAMESPACE}/pods/${pod.metadata.name}/status`
    const answer = await found!.send('PATCH', path, { status }, 'application/merge-patch+json')
    expect(answer.status, answer.body).toBe(200)
    await eventually(`${id} is settled`, async () => {
      await runs.run(signal)
      await runs.settled()
      return (await platform.parts.runs.find(id))?.isSettled ? true : undefined
    })
  }

  test('one comment follows a preview from its approval over its addresses to its deletion', async () => {
    const one = pull({ head: fork })
    const name = nameOf(one)
    await deliver(one)
    await told(one, 'waiting for approval')
    expect(on(one)).toEqual([expect.stringContaining(`\ndevctl preview approve ${name} --commit ${sha('a')}\n`)])
    expect(on(one)[0]).toMatch(new RegExp(`^<!-- devctl preview ${name} -->\n`))
    // Nothing is written if nothing has changed.
    const asked = forge.asked.length
    await tell()
    expect(forge.asked).toHaveLength(asked)

    expect((await approve(one, sha('a'))).status).toBe(200)
    await told(one, 'deploying, commit `aaaaaaaaaaaa`')
    const url = `https://web-${name}.dev.example.com`
    const endpoints = [
      url,
      // The platform does not link arbitrary addresses that the code of a fork reports.
      'https://evil.example.com',
      `https://web-${name}.dev.example.com.evil.example.com`,
      'https://platform.dev.example.com/login',
      'javascript:alert(1)',
    ]
    await ends(one, true, [
      { type: 'output', text: 'x' },
      { type: 'result', endpoints, services: { web: 'ready' } },
    ])
    await told(one, 'ready, commit `aaaaaaaaaaaa`')
    expect(on(one)[0]).toContain(`- <${url}>\n`)
    expect(on(one)[0]).not.toMatch(/evil|javascript|login/)

    push(one, sha('b'))
    await deliver(one)
    await told(one, `--commit ${sha('b')}`)
    forge.pulls.get(one)!.state = 'closed'
    await deliver(one)
    await told(one, 'destroyed')
    expect(on(one)).toHaveLength(1)
  })

  test('the comment has the first errors of a failed deploy, with notes and help, as text', async () => {
    const one = pull()
    await deliver(one)
    await told(one, 'deploying')
    const start = { line: 3, column: 5 }
    const error = { type: 'diagnostic', severity: 'error', code: 'compose/unknown', file: 'compose.yaml' }
    await ends(one, false, [
      { type: 'diagnostic', severity: 'warning', code: 'a/b', message: 'not this one' },
      { ...error, message: '```\n@everyone <img src=x>', range: { start }, notes: ['as said'], hint: 'write\nthis' },
      ...['second', 'third', 'nor this one'].map(message => ({ ...error, message })),
    ])
    await told(one, '❌ failed')
    expect(on(one)).toHaveLength(1)
    expect(on(one)[0]).toContain(
      [
        '````text\nerror[compose/unknown]: ```\n@everyone <img src=x>\n  --> compose.yaml:3:5\n  = note: as said\n  = help: write\nthis',
        'error[compose/unknown]: second\n  --> compose.yaml',
        'error[compose/unknown]: third\n  --> compose.yaml',
        'and 1 more\n````',
      ].join('\n\n'),
    )
    expect(on(one)[0]).not.toContain('this one')
    // The namespace reports the failure, too, with its run.
    const [run] = await platform.parts.runs.list({ namespace: nameOf(one) })
    const { body } = await platform.call('GET /environments', {
      token: owner.token,
      query: { namespaces: nameOf(one) },
    })
    expect(body.items).toEqual([
      {
        namespace: nameOf(one),
        environments: [],
        failedDeploys: [{ run: run!.id, environment: run!.environment, at: expect.any(String) }],
        deploys: [],
      },
    ])
  })

  test('a comment that the forge refuses delays no preview, and is written later', async () => {
    const one = pull()
    await deliver(one)
    await look()
    expect(await platform.parts.runs.list({ namespace: nameOf(one) })).toHaveLength(1)
    forge.tokens.delete(TOKEN)
    await tell()
    expect(on(one)).toEqual([])
    forge.tokens.set(TOKEN, true)
    platform.later = 60_000
    await tell()
    platform.later = 0
    expect(on(one)).toEqual([expect.stringContaining('deploying')])
  })
})
