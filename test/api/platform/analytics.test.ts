import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { usageRef } from '../../../platform/records/usage.ts'
import type { UsedCommand } from '../../../platform/rules/usage.ts'
import { Usage } from '../../../platform/server/leader/usage.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { Program } from '../../support/cluster/program.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Counts commands anonymously, from the command line to the page of administrators.

const DAY = 86_400_000
const used: UsedCommand = { command: 'deploy', version: '0.1.0', system: 'linux', duration: '10s', outcome: 'done' }

describe.skipIf(!process.env.KUBECONFIG)('analytics', () => {
  let platform: TestPlatform
  let ann: Person
  let root: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-analytics-'))

  beforeAll(async () => {
    platform = await openPlatform()
    ;[ann, root] = await platform.people('ann', ['root', 'admin'])
    await platform.cluster.delete(usageRef)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.cluster.delete(usageRef)
    await platform?.close()
  })

  const count = (commands: readonly object[], token = ann.token) =>
    platform.call('POST /analytics', { token, body: { commands } })
  const days = async () => (await platform.call('GET /admin/analytics', { token: root.token })).body.items
  const today = () => new Date(platform.world.now()).toISOString().slice(0, 10)

  test('analytics require a login to send, and an administrator to read', async () => {
    expect((await platform.call('POST /analytics', { body: { commands: [used] } })).status).toBe(401)
    const api = await platform.call('POST /me/tokens', { token: ann.token, body: { label: 'ci' } })
    expect((await count([used], api.body.token)).status).toBe(403)
    expect((await platform.call('GET /admin/analytics', { token: ann.token })).status).toBe(403)
    expect(await days()).toEqual([])
  })

  test.each([
    { ...used, user: 'ann' },
    { ...used, command: 'deploy --var PASSWORD=x' },
    { ...used, system: 'a machine' },
    { ...used, duration: '1234' },
    { ...used, outcome: 'error: no such file' },
    { ...used, version: '0.1.0-ann' },
    { command: 'deploy' },
  ])('the platform refuses the command %j', async one => {
    expect((await count([used, one])).status).toBe(400)
    expect(await days()).toEqual([])
  })

  test('analytics add up each field separately, without the user', async () => {
    const before = platform.audit.length
    expect((await count([used, { ...used, outcome: 'failed', system: 'darwin' }])).status).toBe(204)
    expect((await count([{ ...used, command: 'secret word' }])).status).toBe(204)
    const counted = {
      commands: { deploy: { done: 1, failed: 1, '10s': 2 }, other: { done: 1, '10s': 1 } },
      versions: { '0.1.0': 3 },
      systems: { linux: 2, darwin: 1 },
    }
    expect(await days()).toEqual([{ day: today(), ...counted }])
    expect(platform.audit.slice(before)).toEqual([])
    const live = JSON.stringify(await platform.cluster.get(usageRef))
    const data = Buffer.from(JSON.parse(live).data[today()], 'base64').toString()
    for (const word of [ann.id, `ann-${RUN}`, 'secret word']) expect(live + data).not.toContain(word)
  })

  test('analytics of replicas that write at the same time are added', async () => {
    const replicas = Array.from({ length: 5 }, () => new Usage(platform.world))
    for (const one of replicas) one.count(ann.id, [{ ...used, command: 'build' }])
    await Promise.all(replicas.map(one => one.write()))
    expect((await days())[0]?.commands['build']).toEqual({ done: 5, '10s': 5 })
  })

  test('analytics leave out commands of a user who sends too many', async () => {
    const usage = new Usage(platform.world)
    for (let n = 0; n < 20; n++) usage.count(root.id, Array(100).fill({ ...used, command: 'up' }))
    await usage.write()
    const { done = 0 } = (await days())[0]?.commands['up'] ?? {}
    expect(done).toBeGreaterThanOrEqual(300)
    expect(done).toBeLessThan(1000)
  })

  test('analytics are deleted after 30 days by the next write', async () => {
    platform.later = 29 * DAY
    expect(await days()).toHaveLength(1)
    platform.later = 30 * DAY
    await new Usage(platform.world).write()
    platform.later = 0
    expect(await days()).toEqual([])
  })

  test('devctl counts commands on the platform, sends them in the background, and can be disabled', async () => {
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    const home = join(folder, 'home')
    const devctl = (line: string, env = {}) =>
      run(line.split(' '), { cwd: folder, env: { HOME: folder, DEVCTL_HOME: home, ...env } })
    const files = () => readdirSync(join(home, 'analytics'))
    const program = { DEVCTL_URL: url, DEVCTL_TOKEN: ann.token, DEVCTL_HOME: join(folder, 'program') }
    expect((await devctl('namespace list', program)).status).toBe(0)
    expect(readdirSync(folder)).toEqual([])
    await devctl(`context use ${url} --token ${ann.token}`)
    expect((await devctl('render')).status).not.toBe(0)
    expect(readdirSync(home)).toEqual(['contexts.json'])
    expect((await devctl('namespace list')).status).toBe(0)
    expect((await devctl('namespace share nothing nobody')).status).toBe(1)
    expect(files()).toHaveLength(1)
    expect((await devctl('analytics', { DEVCTL_SEND_ANALYTICS: url })).stdout).toBe('')
    expect((await days())[0]?.commands).toMatchObject({
      'namespace list': { done: 1 },
      'namespace share': { failed: 1 },
    })
    await devctl('namespace list')
    expect((await devctl('analytics')).stdout).toContain('Analytics are enabled')
    expect((await devctl('analytics --disable')).stdout).toBe('Analytics are disabled: devctl counts nothing\n')
    await devctl('namespace list')
    expect(files()).toEqual(['off'])
    expect((await devctl('analytics --enable --disable')).status).toBe(2)
    expect((await devctl('analytics --enable')).stdout).toContain('Analytics are enabled')
  })

  test('a program that has ended sends its waiting counts by itself', async () => {
    const env = { HOME: folder, DEVCTL_HOME: join(folder, 'program-home'), DO_NOT_TRACK: '' }
    const devctl = async (line: string) => {
      const program = new Program(line.split(' '), { cwd: folder, env }).read()
      expect(await program.status, program.stderr).toBe(0)
    }
    await run(['context', 'use', url, '--token', ann.token], { cwd: folder, env: { ...env, DO_NOT_TRACK: '1' } })
    await devctl('variables list')
    await eventually('the platform has counted it', async () => {
      const counts = (await days())[0]?.commands['variables list']
      return counts?.['done'] === 1 ? true : undefined
    })
  })
})
