import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readChangeLists } from '../../../environment/record/change-lists.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { run } from '../../support/run.ts'

// Tests the records of `devctl deploy`, as `devctl history` prints them and as the platform shows them.

const compose = (greeting: string, image: string) => `services:
  web:
    image: ${image}
    environment: {GREETING: ${greeting}, API_KEY: "${greeting}-key"}
    ports: ["80"]
  db:
    image: postgres:17
    environment: {POSTGRES_PASSWORD: hunter2}
`

/** Pattern of the age of a deploy of this test, on any machine. */
const AGO = '(?:just now|\\d+ minutes? ago)'

describe.skipIf(!process.env.KUBECONFIG)('the history of an environment', () => {
  let platform: TestPlatform
  let ann: Person
  let env: Readonly<Record<string, string>>
  const folder = mkdtempSync(join(tmpdir(), 'devctl-history-'))
  const project = join(folder, 'shop')

  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...words], { cwd: project })
  const devctl = (line: string, more: Readonly<Record<string, string>> = {}) =>
    run([...line.split(' '), '--namespace', ann.home], { cwd: project, env: { ...env, ...more } })
  const deploy = async (more?: Readonly<Record<string, string>>) => {
    const { status, stderr } = await devctl('deploy', more)
    expect(status, stderr).toBe(0)
  }
  const record = async () => {
    const found = await platform.cluster.get({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'devctl-shop',
      namespace: ann.home,
    })
    return found as unknown as { data: Record<string, string>; binaryData?: Record<string, string> }
  }

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    const url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    env = {
      HOME: folder,
      DEVCTL_HOME: join(folder, 'home'),
      PATH: process.env.PATH!,
      DEVCTL_URL: url,
      DEVCTL_TOKEN: ann.token,
    }
    execFileSync('git', ['init', '--quiet', '--initial-branch', 'main', project])
    git('remote', 'add', 'origin', 'https://bob:secret@git.example.com/team/shop.git')
    writeFileSync(join(project, 'compose.yaml'), compose('hello', 'nginx:1.27'))
    git('add', '.')
    git('commit', '--quiet', '--message', 'first things')
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  test('devctl history lists each deploy that changed something, with its commit and branch', async () => {
    expect((await devctl('history')).stderr).toBe(`shop is not deployed in ${ann.home}\n`)
    await deploy()
    await deploy()
    git('checkout', '--quiet', '--detach')
    writeFileSync(join(project, 'compose.yaml'), compose('hi', 'nginx:1.28'))
    const sha = git('rev-parse', 'HEAD').toString().trim()
    await deploy({ GITHUB_ACTIONS: 'true', GITHUB_SHA: sha, GITHUB_REF_NAME: 'release' })
    const { stdout } = await devctl('history')
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^Deploy {2}When +By +Commit +Changes +Services$/)
    expect(lines[1]).toMatch(
      new RegExp(`^2 +${AGO} +.+ +${sha.slice(0, 7)}\\+ release "first things" +\\d updated +web$`),
    )
    expect(lines[2]).toMatch(
      new RegExp(`^1 +${AGO} +.+ +${sha.slice(0, 7)} main "first things" +\\d+ created +db, web$`),
    )
    expect(lines).toHaveLength(4)
  })

  test('devctl history prints one deploy like a diff, without values of variables', async () => {
    const { stdout } = await devctl('history 2')
    expect(stdout).toMatch(
      new RegExp(`^Deploy 2, ${AGO} by .+\\n.{7}\\+ release "first things" of git\\.example\\.com/team/shop\\n`),
    )
    expect(stdout).toContain('       - nginx:1.27\n       + nginx:1.28\n')
    expect(stdout).toContain('env[GREETING].value: changed')
    expect(stdout).not.toMatch(/hello|hunter2|-key/)
    const json = JSON.parse((await devctl('history 2 --output json')).stdout)
    expect(json).toMatchObject({ number: 2, branch: 'release', isDirty: true, repository: 'git.example.com/team/shop' })
    expect(await devctl('history 7')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there are 2, 1: the last ones that changed something'),
    })
    expect(await devctl('history web')).toMatchObject({ status: 1 })
  })

  test('the platform shows the last deploy with its services and their places', async () => {
    const input = { token: ann.token, params: { ns: ann.home, env: 'shop' } }
    const { body } = await platform.call('GET /namespaces/:ns/environments/:env', input)
    expect(body).toMatchObject({
      deployed: { number: 2, branch: 'release', subject: 'first things' },
      services: [
        { name: 'db', image: 'postgres:17', place: { file: 'compose.yaml', line: 6 } },
        { name: 'web', image: 'nginx:1.28', place: { file: 'compose.yaml', line: 2 } },
      ],
    })
    const history = await platform.call('GET /namespaces/:ns/environments/:env/history', input)
    expect(history.body).toMatchObject({ items: [{ number: 2 }, { number: 1 }] })
  })

  test('the record has no value of a variable or secret, and no path of this machine', async () => {
    const { data, binaryData } = await record()
    const text = JSON.stringify([data, readChangeLists(binaryData?.['history'])])
    expect(text).toContain('postgres:17')
    expect(text).not.toMatch(/hunter2|hello|-key|bob|secret@/)
    expect(text).not.toContain(folder)
  })

  test('deploy replaces a record of an older version or one that is damaged', async () => {
    const { kinds = '' } = (await record()).data
    const spoilt = { kinds, application: '{"services": 1}', by: 'x', at: 'never' }
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'devctl-shop', namespace: ann.home }
    await platform.cluster.patch(
      ref,
      { data: { ...spoilt, repository: null, file: null }, binaryData: { history: 'aGVsbG8=' } },
      { manager: 'test' },
    )
    expect((await devctl('history')).stderr).toBe(`no deploy of shop is noted in ${ann.home}: the next one will be\n`)
    writeFileSync(join(project, 'compose.yaml'), compose('hi', 'nginx:1.29'))
    await deploy()
    const json = JSON.parse((await devctl('history --output json')).stdout)
    expect(json).toMatchObject([{ number: 1, changes: [{ action: 'update', object: 'deployment/web' }] }])
  })
})
