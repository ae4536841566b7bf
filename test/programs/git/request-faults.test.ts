import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { COMPOSE, type Publishing, publishing } from '../../support/git/publishing.ts'
import { commitDirectly } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'

const BRANCH = 'devctl/staging/shop'
const NEWER = COMPOSE.replace('1.27', '1.28')
const WEB = 'environments/staging/shop/web/deployment-web.yaml'

/** Creates an application with an open pull request. */
async function requested(environment = '') {
  const world = await publishing({ environment })
  await commitDirectly(world.server.repository, { 'here.txt': 'here\n' })
  const request = (...words: readonly string[]) => world.publish('--pull-request', ...words)
  expect(await request()).toMatchObject({ status: 0 })
  return { ...world, request }
}

/** Returns a PATH whose git fails once, as if the connection broke, for the first command that matches the pattern. */
function brokenOnce({ temporary, env }: Publishing, pattern: string): string {
  const folder = join(temporary, 'broken')
  mkdirSync(folder)
  const real = `PATH='${env['PATH']}' exec git "$@"`
  const said = `echo "fatal: unable to access 'https://x/': Recv failure: Connection reset by peer" >&2; exit 128`
  const once = `if [ ! -e '${folder}/done' ]; then touch '${folder}/done'; ${said}; fi`
  write(folder, { git: `#!/bin/sh\ncase "$*" in\n${pattern}) ${once};;\nesac\n${real}\n` })
  chmodSync(join(folder, 'git'), 0o755)
  return `${folder}:${env['PATH']}`
}

/** Amends the commit of the request, as another user. */
async function amend({ server }: Publishing): Promise<string> {
  const folder = join(makeFolder(), 'work')
  await git(server.repository, 'clone', '--quiet', '--branch', BRANCH, server.repository, folder)
  write(folder, { [WEB]: 'theirs\n' })
  await git(folder, 'commit', '--quiet', '--all', '--amend', '--no-edit')
  await git(folder, 'push', '--quiet', '--force', 'origin', `HEAD:${BRANCH}`)
  return git(folder, 'rev-parse', 'HEAD')
}

/** Publishes with another PATH. */
const requestWith = ({ source, env }: Publishing, PATH: string) =>
  run(['publish', '--environment', 'staging', '--pull-request'], { cwd: source, env: { ...env, PATH } })

test('publish keeps an amended commit of the request if the connection breaks while its parent is read', async () => {
  const world = await requested()
  const parent = await git(world.server.repository, 'rev-parse', 'main')
  const theirs = await amend(world)
  await commitDirectly(world.server.repository, { 'other.txt': 'theirs\n' })
  await world.change({ 'compose.yaml': NEWER })
  const result = await requestWith(world, brokenOnce(world, `fetch*${parent}`))
  expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining(`\`${BRANCH}\` was changed by`) })
  expect(await git(world.server.repository, 'rev-parse', BRANCH)).toBe(theirs)
})

test('publish reads the lock of the request again if the connection breaks', async () => {
  const world = await requested()
  await world.change({ 'compose.yaml': NEWER })
  const result = await requestWith(world, brokenOnce(world, 'show*.devctl.lock'))
  expect(result).toMatchObject({ status: 0, stderr: expect.not.stringContaining('was changed by') })
})

test('a request from uncommitted files is updated once the files are committed', async () => {
  const world = await requested()
  write(world.source, { 'compose.yaml': NEWER })
  await world.request()
  const lock = async () => JSON.parse((await world.tree(BRANCH))['environments/staging/shop/.devctl.lock']!)
  expect((await lock()).source.isDirty).toBe(true)
  const commit = await world.change({ 'compose.yaml': NEWER })
  expect(await world.request()).toMatchObject({ status: 0, stdout: expect.not.stringMatching(/^unchanged/) })
  expect((await lock()).source).toEqual({ commit, path: '.' })
  expect(await world.request()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
})

test.each(['.', 'apps'])('a request with overlays for the folder %s is updated', async path => {
  const world = await requested(`    layout: kustomize\n    path: ${path}\n`)
  await world.change({ 'compose.yaml': NEWER })
  expect(await world.request()).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') })
})

test('a request after a file was restored is not taken for the change of another user', async () => {
  const world = await publishing()
  await world.publish()
  await commitDirectly(world.server.repository, { [WEB]: undefined })
  const request = () => world.publish('--pull-request')
  expect(await request()).toMatchObject({ status: 0 })
  await world.change({ 'compose.yaml': NEWER })
  expect(await request()).toMatchObject({ status: 0, stderr: expect.not.stringContaining('error') })
})

test('publish creates a branch again that was deleted on the server', async () => {
  const world = await publishing({ environment: '' })
  await commitDirectly(world.server.repository, { 'here.txt': 'here\n' })
  const publish = () => world.publish('--branch', 'stage', '--timeout', '20s')
  expect(await publish()).toMatchObject({ status: 0 })
  await git(world.server.repository, 'update-ref', '-d', 'refs/heads/stage')
  await world.change({ 'compose.yaml': NEWER })
  const { status, stderr } = await publish()
  expect(status, stderr).toBe(0)
  expect((await world.tree('stage'))[WEB]).toContain('nginx:1.28')
})

test('publish --verify compares the files although a newer commit is published', async () => {
  const world = await publishing()
  const older = await git(world.source, 'rev-parse', 'HEAD')
  const newer = await world.change({ 'compose.yaml': `${COMPOSE}# same\n` })
  await world.publish()
  const verify = () => world.publish('--verify')
  await git(world.source, 'checkout', '--quiet', older)
  expect(await verify()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^verified: /) })
  await commitDirectly(world.server.repository, { [WEB]: 'theirs\n' })
  expect(await verify()).toMatchObject({ status: 1, stderr: expect.stringContaining('was edited by hand') })
  await git(world.source, 'checkout', '--quiet', 'main')
  const next = await world.change({ 'compose.yaml': NEWER })
  await world.publish('--take-over')
  await git(world.source, 'checkout', '--quiet', newer)
  const { status, stderr } = await verify()
  expect(status).toBe(1)
  expect(stderr).toContain(`holds ${next.slice(0, 7)}, which is newer`)
})
