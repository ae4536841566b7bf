import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobRef } from '../../../platform/records/run.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { forgeServer } from '../../support/gitops/forge/forge-server.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests `devctl preview` in a checkout, with a platform as its context.

describe.skipIf(!process.env.KUBECONFIG)('devctl preview', () => {
  let platform: TestPlatform
  let ann: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-preview-'))
  const repository = 'https://git.example.com/team/shop'
  const branch = `feature/${RUN}`
  const name = `shop-feature-${RUN}`

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, stdio: 'pipe' })
    git('init', '--initial-branch', branch)
    git('remote', 'add', 'origin', 'git@git.example.com:team/shop.git')
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const devctl = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    run(['preview', ...words], {
      cwd: folder,
      env: { HOME: folder, DEVCTL_URL: url, DEVCTL_TOKEN: ann.token, PATH: process.env.PATH!, ...env },
    })

  test('preview deploy in a checkout deploys the current branch of its repository', async () => {
    const made = await devctl(['deploy', '--sourceUrl', `${repository}/pulls/7`, '--label', 'red', '--label', 'blue'])
    expect(made).toEqual({
      status: 0,
      stdout: '',
      stderr: `Preview ${name}: ${url}/namespaces/${name}\nScheduled the deploy of ${name}; \`devctl preview endpoints ${name}\` lists its addresses\n`,
    })
    const { body } = await platform.call('GET /previews/:name', { token: ann.token, params: { name } })
    expect(body).toMatchObject({
      repository,
      branch,
      labels: ['red', 'blue'],
      sourceUrl: `${repository}/pulls/7`,
      run: { environment: 'shop', repository, branch },
    })
    const { stdout } = await devctl(['list'])
    expect(stdout.split('\n').map(line => line.trim().split(/ {2,}/))).toEqual([
      ['Name', 'Status', 'Scope', 'Owner', 'Branch', 'Labels', 'URLs'],
      [name, expect.stringMatching(/^Deploying ./), 'personal', `ann-${RUN}`, branch, 'red, blue', '-'],
      [''],
    ])
    expect(JSON.parse((await devctl(['list', '--label', 'blue', '-o', 'json'])).stdout)).toMatchObject([
      { name, status: 'Deploying', state: 'deploying' },
    ])
    expect(await devctl(['list', '--label', 'green'])).toMatchObject({ stdout: '', stderr: 'There are no previews\n' })
    expect(await devctl(['endpoints', '--output', 'json'])).toEqual({
      status: 0,
      stdout: '[]\n',
      stderr: `preview ${name} has no endpoints: it is being deployed\n`,
    })
  })

  test('preview deploy --comment needs --wait and a pull request', async () => {
    expect((await devctl(['deploy', '--comment'])).stderr).toContain('`--comment` needs `--wait`')
    expect((await devctl(['deploy', '--comment', '--wait'])).stderr).toContain('which pull request is the comment for?')
  })

  test('preview deploy --comment without a token for the comment deploys nothing', async () => {
    const job = { GITHUB_REF: 'refs/pull/8/merge' }
    const words = ['deploy', `silent-${RUN}`, '--comment', '--wait']
    expect(await devctl(words, job)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('error: nothing can comment on'),
    })
    const params = { name: `silent-${RUN}` }
    expect((await platform.call('GET /previews/:name', { token: ann.token, params })).status).toBe(404)
  })

  test('a comment that the forge refuses is a warning, and does not change the exit status', async () => {
    const said = `preview ${name}: no comments today`
    const forge = await forgeServer({ status: 403, json: { message: said } })
    const job = {
      GITHUB_REF: 'refs/pull/8/merge',
      GITHUB_SERVER_URL: 'https://git.example.com',
      GITHUB_API_URL: forge.url,
      GITHUB_TOKEN: 'a-token-that-is-in-no-other-text',
    }
    const params = { name: `loud-${RUN}` }
    const deploy = devctl(['deploy', params.name, '--comment', '--wait'], job)
    const id = await eventually('a run', async () => {
      const { body } = await platform.call('GET /previews/:name', { token: ann.token, params })
      return body.run?.id
    })
    await platform.parts.runs.stop(id, { why: 'cancelled' })
    // Does what the leader does when the Pod is deleted: nothing runs here.
    await platform.cluster.patch(
      jobRef(id),
      { metadata: { labels: { 'dev.platform/live': null } } },
      { manager: 'test' },
    )
    const { status, stderr } = await deploy
    expect(status, stderr).toBe(1)
    expect(stderr).toContain(said)
    expect(stderr).toMatch(
      /^warning: GitHub does not let the token of `GITHUB_TOKEN` read the comments of pull request 8/m,
    )
    expect(stderr).not.toMatch(/^error: .*comment/m)
    expect(forge.calls()).toHaveLength(1)
  })

  test('preview deploy of another repository uses its main branch', async () => {
    const made = await devctl(['deploy', `blog-${RUN}`, '--repository', 'https://git.example.com/team/blog.git'])
    expect(made.status, made.stderr).toBe(0)
    const params = { name: `blog-${RUN}` }
    const { body } = await platform.call('GET /previews/:name', { token: ann.token, params })
    expect(body.branch).toBeUndefined()
    expect(body.run).toMatchObject({ environment: 'blog' })
  })

  test('devctl preview prints refusals of the platform', async () => {
    const { status, stderr } = await devctl(['deploy', '--scope', 'global'])
    expect([status, stderr]).toEqual([1, expect.stringContaining('only an administrator may deploy a global preview')])
    expect((await devctl(['deploy', 'Not_A_Name'])).stderr).toContain('Not_A_Name')
    expect((await devctl(['endpoints', `none-${RUN}`])).stderr).toContain('does not exist, or you may not see it')
  })

  test('preview destroy fails for an unknown preview, except with --ignore-not-found', async () => {
    const similar = await devctl(['destroy', `${name}x`])
    expect(similar).toMatchObject({ status: 1, stdout: '' })
    expect(similar.stderr).toContain(`error: preview \`${name}x\` does not exist, or you may not see it\n`)
    expect(similar.stderr).toContain(`did you mean \`${name}\`?`)
    expect(similar.stderr).toContain('--ignore-not-found')
    expect(await devctl(['destroy', 'unlike-all'])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`the previews that you may see are`),
    })
    expect(await devctl(['destroy'])).toMatchObject({ status: 0, stdout: `Destroying preview ${name}\n` })
    expect(await devctl(['destroy', '--ignore-not-found', `none-${RUN}`])).toEqual({
      status: 0,
      stdout: '',
      stderr: `preview none-${RUN} does not exist: nothing to destroy\n`,
    })
  })

  test('devctl preview in a cluster without a platform explains that it needs one', async () => {
    const { status, stderr } = await devctl(['list'], { DEVCTL_URL: '', KUBECONFIG: process.env.KUBECONFIG! })
    expect(status).toBe(1)
    expect(stderr).toContain('`devctl preview list` needs a platform; `')
  })
})
