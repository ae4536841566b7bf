import { createHash } from 'node:crypto'
import { type AddressInfo, connect } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { AuditLine } from '../../../platform/server/context.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'

// The audit has one line for each request that changes something, with the user, the action and the result, and no
// secret.

describe.skipIf(!process.env.KUBECONFIG)('the audit', () => {
  let platform: TestPlatform
  let [ann, bob]: Person[] = []
  beforeAll(async () => {
    platform = await openPlatform()
    ;[ann, bob] = await platform.people(['ann', 'admin'], 'bob')
  })
  afterAll(() => platform?.close())

  /** Returns the lines that a function causes. */
  async function linesOf(work: () => Promise<unknown>): Promise<readonly Omit<AuditLine, 'time'>[]> {
    const before = platform.audit.length
    await work()
    return platform.audit.slice(before).map(({ time: _, ...line }) => line)
  }
  const tokenOf = async (text: string) => (await platform.parts.tokens.check(text))!.id

  test('the audit records logins by a typed code, by the browser of the machine, and by a link', async () => {
    const [who, token] = [ann!.id, await tokenOf(ann!.token)]
    let device = ''
    const asked = await linesOf(async () => {
      device = (await platform.call('POST /auth/device', { body: { label: 'laptop' } })).body.device
    })
    expect(asked).toEqual([{ action: 'ask for device login', what: { label: 'laptop' }, status: 200 }])
    const poll = () => platform.call('POST /auth/device/poll', { body: { device } })
    expect(await linesOf(poll), 'nothing has changed').toEqual([])
    const answered = await linesOf(() =>
      platform.call('POST /auth/device/answer', {
        token: ann!.token,
        body: { code: platform.lastCode(), isAllowed: true },
      }),
    )
    const what = { label: 'laptop', answer: 'allowed' }
    expect(answered).toEqual([{ action: 'answer device', user: who, token, what, status: 204 }])
    let granted = ''
    const entered = await linesOf(async () => {
      const { body } = await poll()
      granted = 'token' in body ? body.token : ''
    })
    expect(entered).toEqual([
      { action: 'login by device', user: who, token: await tokenOf(granted), what: { label: 'laptop' }, status: 200 },
    ])
    expect(await linesOf(poll)).toEqual([{ action: 'login by device', status: 410 }])

    const verifier = 'v'.repeat(43)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const { body } = await platform.call('POST /auth/cli/code', {
      token: ann!.token,
      body: { challenge, label: 'desk' },
    })
    let cli = ''
    const exchanged = await linesOf(async () => {
      cli = (await platform.call('POST /auth/cli', { body: { code: body.code, verifier } })).body.token
    })
    expect(exchanged).toEqual([
      { action: 'login', user: who, token: await tokenOf(cli), what: { label: 'desk' }, status: 200 },
    ])
    expect(await linesOf(() => platform.call('POST /auth/cli', { body: { code: body.code, verifier } }))).toEqual([
      { action: 'login', status: 401 },
    ])

    const invite = await platform.parts.tokens.issue({ kind: 'invite', label: `guest-${RUN}` })
    let guest = ''
    const invited = await linesOf(async () => {
      const setup = { token: invite.text, login: `guest-${RUN}`, label: 'laptop' }
      const answer = await platform.call('POST /auth/setup', { body: setup })
      guest = 'token' in answer.body ? answer.body.token : ''
    })
    const { body: me } = await platform.call('GET /me', { token: guest })
    expect(invited).toEqual([
      { action: 'setup', user: me.id, token: await tokenOf(guest), what: { label: 'laptop' }, status: 200 },
    ])
    await platform.cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name: me.home! })
    await platform.parts.tokens.revokeAll(me.id)
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: `u-${me.id}`, namespace: 'devctl-users' }
    await platform.cluster.delete(account)
  })

  test('the audit records what was created or changed', async () => {
    const { token, id: user } = ann!
    const name = `audit-${RUN}`
    const by = { user, token: await tokenOf(token), status: 200 }
    const lines = await linesOf(async () => {
      await platform.call('POST /namespaces', { token, body: { name } })
      const params = { ns: name, user: bob!.id }
      await platform.call('PUT /namespaces/:ns/members/:user', { token, params, body: { role: 'viewer' } })
      await platform.call('PATCH /namespaces/:ns', { token, params, body: { isPersistent: true } })
      await platform.call('PATCH /admin/users/:user', { token, params, body: { role: 'developer' } })
      const variables = { GREETING: 'canary-value', OTHER: null }
      await platform.call('PATCH /variables/:scope', { token, params: { scope: 'user' }, body: { variables } })
    })
    expect(lines).toEqual([
      { action: 'create namespace', ...by, what: { ns: name } },
      { action: 'share namespace', ...by, what: { ns: name, user: bob!.id, role: 'viewer' } },
      { action: 'change namespace', ...by, what: { ns: name, isPersistent: 'true' } },
      { action: 'change user', ...by, what: { user: bob!.id, role: 'developer' } },
      { action: 'change variables', ...by, status: 204, what: { scope: 'user', names: 'GREETING, OTHER' } },
    ])
    const made: string[] = []
    const more = await linesOf(async () => {
      const granted = await platform.call('POST /me/tokens', { token, body: { label: 'ci' } })
      made.push(await tokenOf(granted.body.token))
      const run = { namespace: name, environment: 'shop', action: 'deploy', repository: 'https://git.example.com/x' }
      const { body } = await platform.call('POST /runs', { token, body: { ...run, variables: { A: 'canary-value' } } })
      made.push(body.id)
    })
    expect(more).toEqual([
      { action: 'create token', ...by, what: { id: made[0], label: 'ci' } },
      { action: 'start run', ...by, what: { id: made[1], namespace: name, environment: 'shop', action: 'deploy' } },
    ])
  })

  test('the audit records a request whose client disconnects before the response', async () => {
    await platform.app.listen({ port: 0, host: '127.0.0.1' })
    const name = `audit-gone-${RUN}`
    const body = JSON.stringify({ name })
    const { server } = platform.app
    const { port } = server.address() as AddressInfo
    const connections = promisify(server.getConnections.bind(server))
    const { namespaces } = platform.parts
    const create = namespaces.create.bind(namespaces)
    const lines = await linesOf(async () => {
      const socket = connect(port, '127.0.0.1')
      vi.spyOn(namespaces, 'create').mockImplementationOnce(async (...args) => {
        const made = await create(...args)
        socket.destroy()
        await vi.waitUntil(async () => (await connections()) === 0, 60_000)
        return made
      })
      const head = [
        'POST /api/v1/namespaces HTTP/1.1',
        'host: platform.dev.example.com',
        `authorization: Bearer ${ann!.token}`,
        'content-type: application/json',
        `content-length: ${body.length}`,
      ]
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
      await eventually('there is a line', async () =>
        platform.audit.some(({ what }) => what?.['ns'] === name) ? true : undefined,
      )
    })
    const by = { user: ann!.id, token: await tokenOf(ann!.token) }
    expect(lines).toEqual([{ action: 'create namespace', ...by, what: { ns: name }, status: 200 }])
  })

  test('the audit records a refused request once, without its input, and limits failed attempts', async () => {
    const repository = 'https://ann:canary-value@git.example.com/x'
    const run = { namespace: bob!.home, environment: 'shop', action: 'deploy', repository }
    const refused = await linesOf(() => platform.call('POST /runs', { token: bob!.token, body: run }))
    expect(refused).toEqual([{ action: 'start run', user: bob!.id, token: await tokenOf(bob!.token), status: 400 }])
    const name = `audit-refused-${RUN}`
    const preview = { name, repository, variables: { A: 'canary-value' } }
    expect(await linesOf(() => platform.call('POST /previews', { token: bob!.token, body: preview }))).toEqual([
      { action: 'deploy preview', user: bob!.id, token: await tokenOf(bob!.token), what: { name }, status: 400 },
    ])
    const by = { user: bob!.id, token: await tokenOf(bob!.token), status: 400 }
    const { token } = bob!
    const hook = { repository, token: 'x' }
    expect(await linesOf(() => platform.call('POST /hooks', { token, body: hook }))).toEqual([
      { action: 'add webhook', ...by },
    ])
    const place = { scope: 'namespace:nothing', host: 'ann:canary-value@git.example.com' }
    expect(await linesOf(() => platform.call('DELETE /credentials/:scope/:host', { token, params: place }))).toEqual([
      { action: 'unset credential', ...by },
    ])
    const assigned = { scope: 'namespace:nothing', name: 'A=canary-value' }
    expect(await linesOf(() => platform.call('DELETE /variables/:scope/:name', { token, params: assigned }))).toEqual([
      { action: 'unset variable', ...by },
    ])
    const variables = { GOOD: 'x', 'A=canary-value': 'x' }
    const mine = { token, params: { scope: 'user' }, body: { variables } }
    expect(await linesOf(() => platform.call('PATCH /variables/:scope', mine))).toEqual([
      { action: 'change variables', ...by, what: { names: 'GOOD' } },
    ])
    const body = { code: 'x.y', verifier: 'v'.repeat(43) }
    // A client behind a proxy has fewer attempts than the proxy.
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const answers: number[] = []
    const attempts = await linesOf(async () => {
      // A slow machine regains attempts meanwhile.
      for (let batch = 0; batch < 20 && !answers.includes(429); batch++) {
        const all = await Promise.all(
          Array.from({ length: 230 }, () => platform.call('POST /auth/cli', { body, headers })),
        )
        answers.push(...all.map(({ status }) => status))
      }
    })
    expect(answers).toContain(429)
    expect(attempts).toHaveLength(answers.filter(status => status !== 429).length)
    expect(JSON.stringify(platform.audit)).not.toMatch(/canary|devctl_(cli|api|session|invite)_|x\.y/)
  })
})
