import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests `devctl credentials`, and ambiguous logins of `namespace share`, with a platform as context.

describe.skipIf(!process.env.KUBECONFIG)('devctl credentials', () => {
  let platform: TestPlatform
  let ann: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-credentials-'))

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  // The commands name no namespace: a token of the environment selects the home namespace.
  const devctl = (line: string, stdin = '') =>
    run(line.split(' '), { cwd: folder, env: { HOME: folder, DEVCTL_URL: url, DEVCTL_TOKEN: ann.token }, stdin })

  test('credentials are set from standard input, listed without the password, used, and deleted', async () => {
    expect(await devctl('credentials')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'there are no credentials; to set one, run `devctl credentials set HOST`\n',
    })
    expect(await devctl('credentials set git.example.com', 'canary-1\n')).toEqual({
      status: 0,
      stdout: `Set the credential of git at git.example.com for namespace ${ann.home}\n`,
      stderr: '',
    })
    const own = await devctl('credentials set https://git.example.com:3000/team/shop --user --login ann', 'canary-2')
    expect(own.stdout).toBe('Set the credential of ann at git.example.com:3000 for you\n')
    const { stdout } = await devctl('credentials list')
    expect(stdout).not.toContain('canary')
    const rows = stdout.split('\n').map(line => line.trim().split(/ {2,}/))
    const by = `ann-${RUN}`
    expect(rows).toContainEqual(['git.example.com', 'git', `namespace ${ann.home}`, 'just now', by])
    expect(rows).toContainEqual(['git.example.com:3000', 'ann', 'you', 'just now', by])
    const records = JSON.parse((await devctl('credentials list --user --output json')).stdout)
    expect(records).toEqual([{ host: 'git.example.com:3000', user: 'ann', scope: 'user', set: expect.any(String), by }])
    const live = await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ann.home })
    const { uid = '' } = live!.metadata
    const given = { name: ann.home, uid }
    expect(await platform.parts.credentials.loginFor(given, ann.id, 'git.example.com')).toEqual({
      user: 'git',
      password: 'canary-1',
    })
    expect((await devctl('credentials unset git.example.com')).status).toBe(0)
    expect((await devctl('credentials unset git.example.com')).stderr).toContain('there is no credential for')
    expect(await platform.parts.credentials.loginFor(given, ann.id, 'git.example.com')).toBeUndefined()
  })

  test.each([
    ['set git.example.com', '', 'there is no password'],
    ['set ann@git.example.com', 'x', 'a host has no `@`'],
    ['set https://ann:canary@git.example.com', 'x', 'devctl asks for the password'],
    ['set https://canary@git.example.com', 'x', 'devctl asks for the password'],
    ['set git.example.com --user --namespace shop', 'x', '`--namespace` and `--user` cannot be combined'],
    ['set not_a_host', 'x', 'is not a host of a forge'],
  ])('devctl credentials refuses `%s`', async (line, stdin, message) => {
    const { status, stdout, stderr } = await devctl(`credentials ${line}`, stdin)
    expect(status).toBeGreaterThan(0)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('canary')
  })

  test('namespace share reports a login of two users, with their providers', async () => {
    const login = `twin-${RUN}`
    const twin = (issuer: string) => platform.parts.users.loggedIn({ issuer, subject: `${RUN}-twin`, login })
    const one = await twin('https://git.example.com')
    const two = await twin('https://id.example.org/realms/a')
    const { status, stderr } = await devctl(`namespace share ${ann.home} ${login}`)
    expect(status).toBe(1)
    expect(stderr).toContain(`\`${login}\` is the name of 2 people`)
    expect(stderr).toContain(`\`${one.id}\`: ${login}, of git.example.com`)
    expect(stderr).toContain(`\`${two.id}\`: ${login}, of id.example.org`)
    expect((await devctl(`namespace share ${ann.home} ${two.id}`)).status).toBe(0)
  })
})
