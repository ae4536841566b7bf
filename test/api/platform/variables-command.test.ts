import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests `devctl variables` with a platform as its context.

describe.skipIf(!process.env.KUBECONFIG)('devctl variables', () => {
  let platform: TestPlatform
  let ann: Person
  let root: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-variables-'))

  beforeAll(async () => {
    platform = await openPlatform()
    ;[ann, root] = await platform.people('ann', ['root', 'admin'])
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    await devctl(`variables unset --admin REGION_${RUN}`, root)
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const devctl = (line: string, { token, home } = ann, stdin = '') =>
    run(line.split(' '), {
      cwd: folder,
      env: { HOME: folder, DEVCTL_URL: url, DEVCTL_TOKEN: token, DEVCTL_NAMESPACE: home },
      stdin,
    })
  const values = async () => {
    const params = { ns: ann.home }
    const { body } = await platform.call('GET /namespaces/:ns/variables/effective', { token: ann.token, params })
    return Object.fromEntries(body.variables.map(({ name, value }) => [name, value]))
  }

  test('set, list and unset handle variables of the namespace, of the user, and of everyone', async () => {
    expect(await devctl('variables')).toEqual({
      status: 0,
      stdout: '',
      stderr: 'there are no variables; to set one, run `devctl variables set NAME`\n',
    })
    expect(await devctl('variables set PASSWORD', ann, 'canary 1\n')).toEqual({
      status: 0,
      stdout: `Set PASSWORD for namespace ${ann.home}\n`,
      stderr: '',
    })
    expect((await devctl('variables set --user GREETING=hello=you EMPTY=')).stdout).toBe('Set 2 variables for you\n')
    expect((await devctl(`variables set --admin REGION_${RUN}=eu`, root)).stdout).toBe(
      `Set REGION_${RUN} for everyone\n`,
    )
    const expected = { PASSWORD: 'canary 1', GREETING: 'hello=you', EMPTY: '', [`REGION_${RUN}`]: 'eu' }
    expect(await values()).toMatchObject(expected)
    const { stdout } = await devctl('variables list')
    const rows = stdout.split('\n').map(line => line.trim().split(/ {2,}/))
    expect(rows).toContainEqual(['PASSWORD', `namespace ${ann.home}`, 'just now', `ann-${RUN}`])
    expect(rows).toContainEqual(['GREETING', 'you', 'just now', `ann-${RUN}`])
    expect(rows).toContainEqual([`REGION_${RUN}`, 'everyone', 'just now', `root-${RUN}`])
    const json = await devctl('variables list --user --output json')
    expect(JSON.parse(json.stdout)).toMatchObject([
      { name: 'EMPTY', scope: 'user', by: `ann-${RUN}` },
      { name: 'GREETING', scope: 'user', by: `ann-${RUN}` },
    ])
    expect(stdout + json.stdout).not.toMatch(/canary|hello/)
    expect((await devctl('variables unset --user GREETING EMPTY')).stdout).toBe(
      'Removed GREETING for you\nRemoved EMPTY for you\n',
    )
    expect((await devctl('variables unset GREETING')).stderr).toContain('there is no variable `GREETING`')
    expect(await values()).not.toHaveProperty('GREETING')
  })

  test('set reads a file, and arguments override it', async () => {
    writeFileSync(join(folder, 'team.env'), 'A=1\nexport B="x ${A}\\ny"\n# C=3\nD=\'$A\'\n')
    expect((await devctl('variables set --file team.env A=2')).stdout).toBe(
      `Set 3 variables for namespace ${ann.home}\n`,
    )
    expect(await values()).toMatchObject({ A: '2', B: 'x 1\ny', D: '$A' })
  })

  test('devctl variables reports missing rights in the words of the platform', async () => {
    expect((await devctl('variables set --admin A=1')).stderr).toContain(
      'only an administrator may change these variables',
    )
    expect((await devctl(`variables list --namespace ${root.home}`)).stderr).toContain('you are not a member of it')
  })
})
