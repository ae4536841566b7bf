import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliveryKeys } from '../../../platform/rules/previews/deliveries.ts'
import { clone } from '../../../platform/runner/clone.ts'
import { HookComments } from '../../../platform/server/hooks/hook-comments.ts'
import { WebhookController } from '../../../platform/server/hooks/webhook-controller.ts'
import { RunController } from '../../../platform/server/runs/run-controller.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { lacks } from '../../support/lacks.ts'
import { GITEA, type GiteaPerson, giteaApi, HAS_GITEA, trustGitea } from '../../support/platform/gitea.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

// Tests webhooks of a real Gitea, with real pull requests of real forks. Deliveries that it never sends are in
// hooks.test.ts.

interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly status: number
}
interface Pull {
  readonly number: number
  readonly head: { readonly sha: string }
}
interface GiteaHook {
  readonly id: number
  readonly type: string
  readonly events: readonly string[]
  readonly config: object
}

const PASSWORD = `secret-${RUN}-0123`
const COMPOSE = 'services: {web: {image: "nginx:1.27-alpine", ports: ["80"]}}\n'
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe.skipIf(lacks('an API server and a Gitea', !process.env.KUBECONFIG || !HAS_GITEA))('webhooks of Gitea', () => {
  let platform: TestPlatform
  let keeper: WebhookController
  let comments: HookComments
  let relay: Server
  let distrust = () => {}
  let [owner, stranger]: Person[] = []
  let hook: { readonly id: string }
  const path = `owner-${RUN}/shop`
  const prefix = `g-${RUN}-`
  const accounts: GiteaPerson[] = []
  const deliveries: Delivery[] = []
  const signal = new AbortController().signal

  /** Creates a Gitea account and a token for it. */
  async function account(short: string, repository: 'read' | 'write' = 'read') {
    const one = { name: `${short}-${RUN}`, password: PASSWORD }
    const email = `${one.name}@example.com`
    const made = { username: one.name, email, password: PASSWORD, must_change_password: false }
    await giteaApi('POST', '/admin/users', made)
    accounts.push(one)
    const wanted = { name: 'devctl', scopes: [`${repository}:repository`, 'write:issue'] }
    const { sha1 } = await giteaApi<{ readonly sha1: string }>('POST', `/users/${one.name}/tokens`, wanted, one)
    return { ...one, token: sha1 }
  }

  /** Opens the address of the platform for Gitea: it records each delivery, and forwards it unchanged. */
  async function openRelay(): Promise<string> {
    relay = createServer(async (request, response) => {
      const body = await buffer(request)
      const status = await deliver({ headers: request.headers, body }, request.url)
      deliveries.push({ headers: request.headers, body, status })
      response.writeHead(status).end()
    })
    await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
  }
  async function deliver({ headers, body }: Omit<Delivery, 'status'>, url = `/api/v1/hooks/gitea/${hook.id}`) {
    const { statusCode } = await platform.app.inject({ method: 'POST', url, headers, payload: body })
    return statusCode
  }

  let writer: Awaited<ReturnType<typeof account>>
  let contributor: Awaited<ReturnType<typeof account>>
  let colleague: Awaited<ReturnType<typeof account>>
  let branches = 0

  beforeAll(async () => {
    distrust = trustGitea()
    const forges = [{ kind: 'gitea', url: GITEA }] as const
    platform = await openPlatform({ previewsPerUser: 10, forges, url: await openRelay() })
    keeper = new WebhookController(platform.world, platform.parts)
    comments = new HookComments(platform.world, platform.parts)
    ;[owner, stranger] = await platform.people('owner', 'stranger')
    writer = await account('owner', 'write')
    contributor = await account('contributor')
    colleague = await account('colleague')
    await giteaApi('POST', '/user/repos', { name: 'shop', auto_init: true, default_branch: 'main' }, writer)
    await commit(writer, path, 'main', 'compose.yaml', COMPOSE)
    for (const one of [contributor, colleague]) await giteaApi('POST', `/repos/${path}/forks`, {}, one)
    const made = await platform.call('POST /hooks', {
      token: owner.token,
      body: { repository: `${GITEA}/${path}`, token: writer.token, prefix, create: true },
    })
    expect(made.status, made.error?.message).toBe(200)
    expect(made.body).toMatchObject({ hook: { isCreated: true } })
    expect(made.body).not.toHaveProperty('secret')
    hook = made.body.hook
  })
  afterAll(async () => {
    relay?.close()
    if (platform) {
      for (const one of await platform.parts.hooks.list())
        if (one.prefix === prefix) await platform.parts.hooks.remove(one)
      await platform.close()
    }
    for (const { name } of accounts) await giteaApi('DELETE', `/admin/users/${name}?purge=true`)
    distrust()
  })

  /** Writes a file in a separate commit, and returns the commit. */
  async function commit(by: GiteaPerson, to: string, branch: string, file: string, text: string): Promise<string> {
    const at = `/repos/${to}/contents/${file}`
    const there = await giteaApi<{ readonly sha: string }>('GET', `${at}?ref=${branch}`, undefined, by).catch(() => {})
    const made = await giteaApi<{ readonly commit: { readonly sha: string } }>(
      there ? 'PUT' : 'POST',
      at,
      { content: base64(text), branch, message: `${file} of a test`, ...(there && { sha: there.sha }) },
      by,
    )
    return made.commit.sha
  }
  /** Creates a branch that no other test uses; returns its name. */
  async function branchOf(by: GiteaPerson, of: string): Promise<string> {
    const name = `feature-${++branches}`
    await giteaApi('POST', `/repos/${of}/branches`, { new_branch_name: name, old_branch_name: 'main' }, by)
    return name
  }
  const open = (by: GiteaPerson, head: string, more: object = {}) =>
    giteaApi<Pull>('POST', `/repos/${path}/pulls`, { head, base: 'main', title: `Of ${by.name}`, ...more }, by)

  const look = async () => {
    await keeper.run(signal)
    await keeper.settled()
  }
  /**
   * Waits until the platform's record of a pull request satisfies `is`, and returns it: Gitea sends deliveries with a
   * delay.
   */
  const known = (number: number, what: string, is: (one: Shown | undefined) => boolean) =>
    eventually(what, async () => {
      await look()
      const { items } = (await platform.call('GET /hooks', { token: owner!.token })).body
      const found = items.find(({ id }) => id === hook.id)!.pulls.find(one => one.number === number)
      return is(found) ? { found } : undefined
    })
  /** Waits until the only comment on a pull request contains this text. */
  const told = (number: number, what: string) =>
    eventually(`the comment says ${what}`, async () => {
      await look()
      await comments.run(signal)
      await comments.settled()
      const all = await giteaApi<readonly { readonly body: string }[]>(
        'GET',
        `/repos/${path}/issues/${number}/comments`,
      )
      expect(all.length).toBeLessThan(2)
      return all[0]?.body.includes(what) ? true : undefined
    })
  const hooksOf = (repository: string) =>
    giteaApi<readonly GiteaHook[]>('GET', `/repos/${repository}/hooks`, undefined, writer)
  const nameOf = (number: number) => `${prefix}pr-${number}`
  const namespaceOf = (number: number) =>
    platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: nameOf(number) })
  const runsOf = (number: number) => platform.parts.runs.list({ namespace: nameOf(number) })
  const approve = (person: Person | undefined, number: number, sha: string) =>
    platform.call('POST /previews/:name/approve', {
      token: person!.token,
      params: { name: nameOf(number) },
      body: { commit: sha },
    })

  test('the platform creates a webhook in Gitea, and deletes it there', async () => {
    const body = { repository: `${GITEA}/${path}`, token: writer.token, prefix: `other-${RUN}-`, create: true }
    const before = await hooksOf(path)
    const { hook: other } = (await platform.call('POST /hooks', { token: owner!.token, body })).body
    const added = (await hooksOf(path)).filter(({ id }) => !before.some(one => one.id === id))
    expect(added).toMatchObject([{ type: 'gitea', active: true, config: { url: other.address, content_type: 'json' } }])
    expect(added[0]!.events.toSorted()).toEqual(['pull_request', 'pull_request_sync'])
    const removed = await platform.call('DELETE /hooks/:id', { token: owner!.token, params: { id: other.id } })
    expect(removed.body).toEqual({})
    expect((await hooksOf(path)).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
  })

  test('a token that may not create webhooks adds none', async () => {
    const wanted = { name: 'reader', scopes: ['read:repository'] }
    const made = await giteaApi<{ readonly sha1: string }>('POST', `/users/${writer.name}/tokens`, wanted, writer)
    const body = { repository: `${GITEA}/${path}`, token: made.sha1, prefix: `none-${RUN}-`, create: true }
    const refused = await platform.call('POST /hooks', { token: owner!.token, body })
    expect(refused.status).toBe(400)
    expect(refused.error).toMatchObject({
      message: expect.stringContaining('Gitea does not let the token of `webhook` add a webhook'),
      hint: expect.stringContaining('`write:repository`'),
    })
    expect((await platform.parts.hooks.list()).map(({ prefix: one }) => one)).not.toContain(body.prefix)
  })

  test('each commit of a fork waits for approval, and the preview is deleted at the close', async () => {
    const fork = `${contributor.name}/shop`
    const branch = await branchOf(contributor, fork)
    const first = await commit(contributor, fork, branch, 'compose.yaml', COMPOSE.replace('80', '81'))
    const { number, head } = await open(contributor, `${contributor.name}:${branch}`)
    expect(head.sha).toBe(first)
    const { found } = await known(number, 'it waits', one => one?.isWaiting === true)
    await told(number, `devctl preview approve ${nameOf(number)} --commit ${first}`)
    expect(found).toMatchObject({ commit: first, trust: 'fork', author: contributor.name, preview: nameOf(number) })
    expect(await namespaceOf(number)).toBeUndefined()

    // The owner of the fork has a login on the forge, too.
    await platform.call('PUT /credentials/:scope/:host', {
      token: stranger!.token,
      params: { scope: 'user', host: new URL(GITEA).host },
      body: { user: contributor.name, password: contributor.token },
    })
    expect((await approve(stranger, number, first)).status).toBe(404)
    await look()
    expect(await namespaceOf(number)).toBeUndefined()

    expect((await approve(owner, number, first)).status).toBe(200)
    await known(number, 'it is deployed', one => one?.deployed === first)
    expect((await namespaceOf(number))?.metadata.labels).toMatchObject({ 'dev.platform/untrusted': 'true' })
    const [run, ...others] = await runsOf(number)
    expect(others).toEqual([])
    expect(run).toMatchObject({ commit: first, trust: 'fork', repository: `${GITEA}/${fork}.git` })

    const second = await commit(contributor, fork, branch, 'compose.yaml', COMPOSE.replace('80', '82'))
    await known(number, 'it waits again', one => one?.isWaiting === true && one.commit === second)
    expect(await runsOf(number)).toHaveLength(1)
    expect((await approve(owner, number, first)).error.message).toContain(`there is a newer commit: ${second}`)

    // The run gets the approved commit, although the branch has another commit by now, and gets no login.
    const input = await cloneInput(number)
    expect(input).toEqual({ repository: `${GITEA}/${fork}.git`, branch, commit: first })
    const folder = mkdtempSync(join(tmpdir(), 'devctl-fork-'))
    const env = { ...process.env, GIT_SSL_CAINFO: process.env.FORGE_CA }
    expect(await clone(input, { folder, env, signal })).toBe(first)
    expect(readFileSync(join(folder, 'compose.yaml'), 'utf8')).toContain('81')
    rmSync(folder, { recursive: true })

    if (TAKES_ALL) {
      await told(number, `--commit ${second}`)
      expect((await approve(owner, number, second)).status).toBe(200)
      await told(number, 'deploying')
      await known(number, 'the second is deployed', one => one?.deployed === second)
      expect((await runsOf(number)).map(one => one.commit)).toEqual([second, first])
    }

    await giteaApi('PATCH', `/repos/${path}/pulls/${number}`, { state: 'closed' }, writer)
    await known(number, 'it is forgotten', one => one === undefined)
    const live = await namespaceOf(number)
    expect(live === undefined || live.metadata.labels?.['dev.platform/status'] === 'Deleting').toBe(true)
    await told(number, 'destroyed')
  })

  longTest('a pull request of the repository, or of a writer’s own fork, is deployed without approval', async () => {
    const own = await branchOf(writer, path)
    const first = await commit(writer, path, own, 'own.txt', own)
    const { number } = await open(writer, own)
    await known(number, 'it is deployed', one => one?.deployed === first)
    expect(await runsOf(number)).toMatchObject([{ trust: 'repository', repository: `${GITEA}/${path}` }])

    await giteaApi('PUT', `/repos/${path}/collaborators/${colleague.name}`, { permission: 'write' }, writer)
    const fork = `${colleague.name}/shop`
    const branch = await branchOf(colleague, fork)
    const theirs = await commit(colleague, fork, branch, 'theirs.txt', 'theirs')
    const other = await open(colleague, `${colleague.name}:${branch}`)
    await known(other.number, 'it is deployed, too', one => one?.deployed === theirs)
    expect(await runsOf(other.number)).toMatchObject([{ trust: 'repository', commit: theirs }])

    await giteaApi('PUT', `/repos/${path}/collaborators/${colleague.name}`, { permission: 'read' }, writer)
    const later = await commit(colleague, fork, branch, 'theirs.txt', 'of a reader')
    const { found } = await known(other.number, 'a reader waits', one => one?.commit === later)
    expect(found).toMatchObject({ trust: 'fork', isWaiting: true })
  })

  longTest('a delivery of Gitea counts once, and changed copies are refused', async () => {
    const { number } = await closedPull()
    // Selects the last delivery of the pull request, after which no other one can arrive.
    const sent = await eventually('it was delivered', async () =>
      deliveries.findLast(({ body, status }) => {
        const event = JSON.parse(String(body))
        return status === 204 && event.number === number && event.action === 'closed'
      }),
    )
    const { headers } = sent
    const another = { ...headers, 'x-gitea-delivery': 'a', 'x-github-delivery': 'a', 'x-gogs-delivery': 'a' }
    const forged = Buffer.from(String(sent.body).replaceAll(/"number": *\d+/g, `"number": ${number + 1}`))
    expect(forged.equals(sent.body)).toBe(false)
    const length = { 'content-length': String(forged.length) }
    expect(await deliver({ headers, body: sent.body })).toBe(409)
    expect(await deliver({ headers: another, body: sent.body })).toBe(409)
    expect(await deliver({ headers: { ...another, ...length }, body: forged })).toBe(401)
    // Gitea may have sent other deliveries meanwhile.
    const { seen } = (await platform.parts.hooks.find(hook.id))!
    for (const key of deliveryKeys('gitea', { headers, body: sent.body }))
      expect(seen.filter(one => one === key)).toEqual([key])
    for (const key of deliveryKeys('gitea', { headers: another, body: forged })) expect(seen).not.toContain(key)
  })

  longTest('a delivery that is too long is refused, and Gitea still sends others', async () => {
    const before = deliveries.length
    const { number } = await closedPull({ body: 'x'.repeat(300 * 1024) })
    const of = () => deliveries.slice(before).filter(({ body }) => JSON.parse(String(body)).number === number)
    const [sent] = await eventually('they were delivered', async () => (of().length > 0 ? of() : undefined))
    expect(sent!.body.length).toBeGreaterThan(256 * 1024)
    expect(new Set(of().map(({ status }) => status))).toEqual(new Set([413]))
    await giteaApi('PATCH', `/repos/${path}/pulls/${number}`, { body: 'short', state: 'open' }, writer)
    await known(number, 'it is known', one => one?.deployed !== undefined)
  })

  /** Creates a pull request of the repository and closes it. */
  async function closedPull(more: object = {}): Promise<Pull> {
    const branch = await branchOf(writer, path)
    await commit(writer, path, branch, `${branch}.txt`, branch)
    const made = await open(writer, branch, more)
    await giteaApi('PATCH', `/repos/${path}/pulls/${made.number}`, { state: 'closed' }, writer)
    return made
  }

  /** Returns what the oldest run of a preview clones, once its turn comes. */
  async function cloneInput(number: number) {
    const run = (await runsOf(number)).at(-1)
    const runs = new RunController(platform.world, platform.parts)
    const ref = { apiVersion: 'v1', kind: 'Secret', name: `r-${run!.id}-clone`, namespace: 'devctl-runs' }
    const live = await eventually('its turn comes', async () => {
      await runs.run(signal)
      return platform.cluster.get(ref)
    })
    const { 'input.json': input = '' } = live['data'] as Readonly<Record<string, string>>
    return JSON.parse(Buffer.from(input, 'base64').toString()) as Parameters<typeof clone>[0]
  }
})

interface Shown {
  readonly commit: string
  readonly isWaiting?: boolean
  readonly deployed?: string
}
