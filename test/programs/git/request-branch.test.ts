import { expect, test } from 'vitest'
import { GitFailure } from '../../../adapters/git/git.ts'
import { refusal } from '../../../gitops/repository/push.ts'
import { git } from '../../support/git/git.ts'
import { COMPOSE, manifestFor, publishing } from '../../support/git/publishing.ts'
import { commitDirectly } from '../../support/git/repository.ts'

/** Creates an application and a repository with a base and a release branch. */
async function released() {
  const world = await publishing()
  const { repository } = world.server
  await commitDirectly(repository, { 'README.md': 'here\n' })
  await git(repository, 'branch', 'release', 'main')
  await commitDirectly(repository, { onlyrelease: '1\n' }, { branch: 'release' })
  const request = (...words: readonly string[]) => world.publish('--pull-request', ...words)
  const branches = async () =>
    (await git(repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/devctl')).split('\n')
  return { ...world, request, branches }
}

test('another base branch or folder than that of the environment has a request branch of its own', async () => {
  const { request, branches, server } = await released()
  for (const words of [[], ['--branch', 'main'], ['--branch', 'release'], ['--path', 'elsewhere']])
    expect(await request(...words)).toMatchObject({ status: 0, stderr: expect.any(String) })
  const [own, ...others] = await branches()
  expect(own).toBe('devctl/staging/shop')
  expect(others).toEqual([1, 2].map(() => expect.stringMatching(/^devctl\/staging\/shop-[0-9a-f]{6}$/)))
  expect(await git(server.repository, 'diff', '--name-only', 'main...devctl/staging/shop')).not.toContain('onlyrelease')
})

test('publish refuses to replace the request into the former base branch of the environment', async () => {
  const { request, change, server } = await released()
  await request()
  await change({ 'devctl.yml': manifestFor(server.address).replace('branch: main', 'branch: release') })
  const { status, stderr } = await request()
  expect(status).toBe(1)
  expect(stderr).toContain(
    'error: `devctl/staging/shop` is the branch of a pull request into `main`, not into `release`\n',
  )
  expect((await request('--take-over')).status).toBe(0)
})

test('publish moves an open request to another folder of the environment', async () => {
  const { request, change, server, tree } = await released()
  await request()
  await change({ 'devctl.yml': manifestFor(server.address, '    path: other/shop\n') })
  expect(await request()).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') })
  expect(Object.keys(await tree('devctl/staging/shop')).filter(path => path.startsWith('environments/'))).toEqual([])
})

test('a request without an environment does not exclude those of an environment with the same name', async () => {
  const { request, devctl, server, branches } = await released()
  await request()
  const words = [
    '--repository',
    server.address,
    '--namespace',
    'q',
    '--domain',
    'example.com',
    '--path',
    'z',
    '--name',
    'staging',
  ]
  expect(await devctl('publish', ...words, '--pull-request')).toMatchObject({ status: 0, stderr: expect.any(String) })
  expect(await branches()).toEqual([expect.stringMatching(/^devctl\/-\/staging-[0-9a-f]{6}$/), 'devctl/staging/shop'])
})

test.each([':top', ':(top)x', 'env/*'])('a request for the folder %s is unchanged the second time', async path => {
  const { request, change } = await released()
  expect((await request('--path', path)).status).toBe(0)
  expect(await request('--path', path)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
  await change({ 'compose.yaml': COMPOSE.replace('1.27', '1.28') })
  expect((await request('--path', path)).status).toBe(0)
})

test.each([
  [undefined, 'open a pull request with `--pull-request`'],
  ['devctl/staging/shop', 'ask for the right to push to `devctl/staging/shop`'],
])('a refused push to the request branch %s has a hint that helps: %s', (request, hint) => {
  const address = { url: 'file:///r', shown: 'r', isCheckout: false }
  const target = { address, ...(request !== undefined && { request }) }
  expect(refusal(target, 'refused', new GitFailure('push', 'declined', 1), {}).hint).toContain(hint)
})
