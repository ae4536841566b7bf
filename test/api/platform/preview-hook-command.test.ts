import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { openStubForge, type StubForge } from '../../support/platform/stub-forge.ts'
import { run } from '../../support/run.ts'

// Tests `devctl preview hook` and `approve`, with a platform as the context of the command line.

describe.skipIf(!process.env.KUBECONFIG)('devctl preview hook', () => {
  let platform: TestPlatform
  let forge: StubForge
  let ann: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-hook-'))
  const repository = 'https://git.example.com/team/shop'
  const prefix = `shop-${RUN}-`

  beforeAll(async () => {
    forge = await openStubForge()
    forge.tokens.set('canary-token', true)
    platform = await openPlatform({
      forges: [{ kind: 'gitea', url: 'https://git.example.com', api: forge.api }],
    })
    ann = await platform.person('ann')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    forge?.close()
    if (!platform) return
    for (const one of await platform.parts.hooks.list()) await platform.parts.hooks.remove(one)
    await platform.close()
  })

  const devctl = (words: readonly string[], stdin = '') =>
    run(['preview', ...words], {
      cwd: folder,
      env: { HOME: folder, DEVCTL_URL: url, DEVCTL_TOKEN: ann.token, PATH: process.env.PATH! },
      stdin,
    })

  test('hook add prints the settings for the forge, list omits the secret, and remove deletes it', async () => {
    expect(await devctl(['hook', 'list'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'There are no webhooks; to add one, run `devctl preview hook add`\n',
    })
    const added = await devctl(['hook', 'add', repository, '--prefix', prefix], 'canary-token\n')
    expect(added.status, added.stderr).toBe(0)
    const [, secret = ''] = /Secret +(\S+)/.exec(added.stdout) ?? []
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(added.stdout).toMatch(/URL +https:\/\/platform\.dev\.example\.com\/api\/v1\/hooks\/gitea\/[a-z2-7]{16}\n/)
    const listed = await devctl(['hook', 'list'])
    expect(listed.stdout).toContain(`${repository}  ${prefix}pr-…  approve  personal`)
    const json = await devctl(['hook', 'list', '--output', 'json'])
    expect(JSON.parse(json.stdout)).toMatchObject([{ repository, prefix, forks: 'approve', pulls: [] }])
    expect(added.stdout + added.stderr + listed.stdout + json.stdout).not.toContain('canary')
    expect(listed.stdout + json.stdout).not.toContain(secret)
    expect(await devctl(['hook', 'remove', prefix])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(
        /^Removed the webhook of \S+; its previews stay\nRemove it from the settings of the repository, too: https:\/\/platform\.dev\.example\.com\/api\/v1\/hooks\/gitea\/\w+\n$/,
      ),
    })
    expect(await devctl(['hook', 'remove', prefix])).toMatchObject({ status: 1 })
  })

  test('hook add --create creates the webhook on the forge, and remove deletes it there', async () => {
    const added = await devctl(['hook', 'add', repository, '--prefix', prefix, '--create'], 'canary-token\n')
    expect(added).toMatchObject({
      status: 0,
      stdout: `Pull requests of ${repository} get previews, ${prefix}pr-NUMBER; those from forks wait for \`devctl preview approve\`.
The webhook was created in the settings of the repository.
`,
    })
    const [hook] = JSON.parse((await devctl(['hook', 'list', '--output', 'json'])).stdout)
    expect(hook).toMatchObject({ isCreated: true })
    expect([...forge.webhooks.values()]).toEqual([
      {
        type: 'gitea',
        active: true,
        events: ['pull_request_only', 'pull_request_sync'],
        config: { url: hook.address, content_type: 'json', secret: expect.stringMatching(/^[\w-]{43}$/) },
      },
    ])
    expect(await devctl(['hook', 'remove', prefix])).toMatchObject({
      status: 0,
      stdout: `Removed the webhook of ${repository}; its previews stay\n`,
      stderr: '',
    })
    expect(forge.webhooks.size).toBe(0)
  })

  test('hook add adds nothing if the forge refuses, and remove reports what is left there', async () => {
    const add = () => devctl(['hook', 'add', repository, '--prefix', prefix, '--create'], 'canary-token\n')
    forge.refusesWebhooks = 403
    const refused = await add()
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toContain('Gitea does not let the token of `webhook` add a webhook: no')
    expect(refused.stderr).toContain('of an administrator of the repository; without `--create`')
    expect((await devctl(['hook', 'list'])).stdout).toBe('')
    forge.refusesWebhooks = undefined
    await add()
    forge.refusesWebhooks = 403
    const removed = await devctl(['hook', 'remove', prefix])
    expect(removed).toMatchObject({ status: 0 })
    expect(removed.stderr).toContain('warning: it is still in the settings of the repository, remove it there: Gitea')
    expect((await devctl(['hook', 'list'])).stdout).toBe('')
    forge.refusesWebhooks = undefined
    forge.webhooks.clear()
  })

  test('preview hook and approve report missing and refused arguments', async () => {
    expect((await devctl(['hook', 'add', repository])).stderr).toContain('there is no token')
    expect((await devctl(['hook', 'add', repository], 'other')).stderr).toContain('Gitea does not accept the token')
    expect((await devctl(['hook', 'add', 'https://elsewhere.example.com/a/b'], 'x')).stderr).toContain(
      'the platform does not contact its server',
    )
    expect((await devctl(['hook', 'add'], 'x')).stderr).toContain('which repository?')
    expect((await devctl(['hook', 'delete'])).stderr).toContain('delete')
    expect((await devctl(['approve', 'shop-pr-7'])).stderr).toContain('which commit?')
    expect((await devctl(['approve', 'shop-pr-7', '--commit', 'main'])).stderr).toContain('`main` is not a commit')
    expect((await devctl(['approve', `none-${RUN}`, '--commit', 'a'.repeat(40)])).stderr).toContain('does not exist')
  })
})
