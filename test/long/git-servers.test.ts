import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { makeFolder, write } from '../support/cli/folder.ts'
import { type Faults, on } from '../support/git/faults.ts'
import { type Env, git, type Outcome, tryGit } from '../support/git/git.ts'
import { gitDaemon } from '../support/git/git-daemon.ts'
import {
  declines,
  declinesNext,
  type Hooks,
  hangsUpAfter,
  hangsUpBefore,
  locksBranch,
  losesRace,
  waits,
} from '../support/git/hooks.ts'
import { type HttpOptions, type HttpServer, httpServer } from '../support/git/http-server.ts'
import { bareRepository, commitDirectly, type GitServer, type RepositoryOptions } from '../support/git/repository.ts'
import { findSshd, sshServer } from '../support/git/ssh-server.ts'
import { lacks } from '../support/lacks.ts'

const CLONE = ['clone', '--depth', '1', '--filter=blob:none', '--sparse', '--single-branch', '--no-tags']
const SERVERS = {
  file: async (bare: GitServer) => bare,
  daemon: (bare: GitServer) => gitDaemon(bare.repository),
  http: (bare: GitServer) => httpServer(bare.repository, { password: 'correct horse' }),
  ssh: (bare: GitServer) => sshServer(bare.repository),
}
/** True if sshd is missing. On Debian: apt-get install openssh-server */
const lacksSshd = lacks('sshd', findSshd() === undefined)
const NAMES = Object.keys(SERVERS) as (keyof typeof SERVERS)[]

/** Creates a repository with a file and starts the server for it, which ends after the test. */
async function serve<S extends GitServer>(
  start: (bare: GitServer) => Promise<S>,
  options: RepositoryOptions = { files: { 'README.md': 'hello\n' } },
): Promise<{ folder: string; server: S }> {
  const folder = makeFolder()
  const server = await start(await bareRepository(folder, options))
  onTestFinished(() => server.close())
  return { folder, server }
}

const http = (options: HttpOptions, repository?: RepositoryOptions): Promise<{ folder: string; server: HttpServer }> =>
  serve(bare => httpServer(bare.repository, options), repository)

/** Creates a clone with a commit that the server does not have, and returns its folder. */
async function changed(folder: string, server: GitServer, how: readonly string[] = CLONE): Promise<string> {
  await cloned(folder, server, how)
  const work = join(folder, 'work')
  write(work, { 'new.txt': 'new\n' })
  await git(work, 'add', '--sparse', '.')
  await git(work, 'commit', '--quiet', '--message', 'new')
  return work
}

async function cloned(folder: string, server: GitServer, how: readonly string[] = CLONE): Promise<void> {
  const { status, stderr } = await tryGit(folder, [...how, server.address, 'work'], { env: server.env })
  expect(status, stderr).toBe(0)
}

const push = (work: string, env: Env = {}): Promise<Outcome> => tryGit(work, ['push', 'origin', 'main'], { env })
const head = (folder: string): Promise<string> => git(folder, 'rev-parse', 'refs/heads/main')

describe.each(NAMES)('%s', name => {
  describe.skipIf(name === 'ssh' && lacksSshd)('repositories (ssh is skipped where sshd is not installed)', () => {
    test('a large repository can be cloned in part and pushed to', async () => {
      const { folder, server } = await serve(SERVERS[name], { files: 200, commits: 300 })
      const work = await changed(folder, server)
      expect(await git(work, 'rev-list', '--count', 'HEAD')).toBe('2')
      expect(existsSync(join(work, 'environments'))).toBe(false)
      const fetched = await tryGit(work, ['sparse-checkout', 'set', 'environments/staging/app-7'], {
        env: server.env,
      })
      expect(fetched.status, fetched.stderr).toBe(0)
      expect(existsSync(join(work, 'environments/staging/app-7/service.yaml'))).toBe(true)

      expect((await push(work, server.env)).stderr).toContain('main -> main')
      expect(await head(server.repository)).toBe(await head(work))
      expect(await git(server.repository, 'rev-list', '--count', 'main')).toBe('301')
    })

    test('an empty repository can be cloned and gets its first commit', async () => {
      const { folder, server } = await serve(SERVERS[name], {})
      const work = await changed(folder, server)
      expect((await push(work, server.env)).status).toBe(0)
      expect(await head(server.repository)).toBe(await head(work))
    })
  })
})

// A partial clone fetches the commit that the server reports, so git does not answer `fetch first`.
test.each([
  [CLONE, '(non-fast-forward)'],
  [['clone'], '(fetch first)'],
])('a second push is rejected with the reason: %s', async (how, reason) => {
  const { folder, server } = await serve(SERVERS.daemon)
  const work = await changed(folder, server, how)
  const other = await commitDirectly(server.repository, { 'other.txt': 'other\n' })
  const { status, stderr } = await push(work)
  expect(status).toBe(1)
  expect(stderr).toContain(reason)
  expect(await head(server.repository)).toBe(other)
})

test('a policy hook refuses each push with its message', async () => {
  const { folder, server } = await serve(SERVERS.daemon, { files: { a: '' }, hooks: declines() })
  const work = await changed(folder, server)
  for (const _ of [1, 2])
    expect((await push(work)).stderr).toMatch(
      /remote: protected branch hook declined\s[\s\S]*pre-receive hook declined/,
    )
})

describe('hooks that fail for a while', () => {
  const cases: readonly (readonly [string, Hooks, RegExp])[] = [
    ['a text', declinesNext(2, 'incorrect old value provided'), /remote: incorrect old value provided/],
    ['a lost race', losesRace(2), /cannot lock ref 'refs\/heads\/main': is at \w+ but expected \w+/],
    ['a lock', locksBranch(2), /cannot lock ref 'refs\/heads\/main': Unable to create/],
    ['a server that dies', hangsUpBefore(2), /the remote end hung up unexpectedly/],
  ]
  test.each(cases)('a push succeeds after two failures by %s', async (_, hooks, text) => {
    const { folder, server } = await serve(SERVERS.daemon, { files: { a: '' }, hooks })
    const work = await changed(folder, server)
    for (const _ of [1, 2]) {
      const before = await head(server.repository)
      expect((await push(work)).stderr).toMatch(text)
      expect(await git(server.repository, 'merge-base', '--is-ancestor', before, 'main')).toBe('')
      await git(work, 'pull', '--quiet', '--rebase', '--depth=9', 'origin', 'main')
    }
    expect((await push(work)).status).toBe(0)
    expect(await head(server.repository)).toBe(await head(work))
  })

  test('a push fails if the server dies after the branch has moved', async () => {
    const { folder, server } = await serve(SERVERS.daemon, { files: { a: '' }, hooks: hangsUpAfter(1) })
    const work = await changed(folder, server)
    const { status, stderr } = await push(work)
    expect(status).not.toBe(0)
    expect(stderr).toContain('the remote end hung up unexpectedly')
    expect(await head(server.repository)).toBe(await head(work))
  })

  test('a push fails when its server closes during a hook', async () => {
    const { folder, server } = await serve(SERVERS.daemon, { files: { a: '' }, hooks: waits(600) })
    const work = await changed(folder, server)
    const pushed = push(work)
    await vi.waitFor(() => expect(existsSync(join(server.repository, 'waiting'))).toBe(true), 60_000)
    await server.close()
    expect((await pushed).stderr).toContain('the remote end hung up unexpectedly')
  })
})

describe('faults over http', () => {
  const cases: readonly (readonly [string, Faults, RegExp, boolean])[] = [
    ['502 when it asks', on('push-refs', { kind: 'status', status: 502 }), /returned error: 502/, false],
    ['500 when it pushes', on('push', { kind: 'status', status: 500 }), /HTTP 500/, false],
    ['504 after the push', on('push', { kind: 'status', status: 504, afterwards: true }), /HTTP 504/, true],
    // curl itself retries if a reused connection ends without a byte of the answer.
    ['a cut request', on('push', { kind: 'cut-request', after: 50 }, { times: 2 }), /hung up unexpectedly/, false],
    ['a cut answer', on('push', { kind: 'cut-answer', after: 5 }), /hung up unexpectedly/, true],
    ['no answer', on('push', { kind: 'cut-answer', after: 0 }), /cannot lock ref .* is at \w+ but expected/, true],
  ]
  test.each(cases)('a push fails with %s, and the next one succeeds', async (_, faults, text, hasHappened) => {
    const { folder, server } = await http({ faults })
    const work = await changed(folder, server)
    const before = await head(server.repository)
    const { status, stderr } = await push(work)
    expect(status).not.toBe(0)
    expect(stderr).toMatch(text)
    expect(await head(server.repository)).toBe(hasHappened ? await head(work) : before)
    expect((await push(work)).status).toBe(0)
  })

  test('a push without a response fails when the server closes', async () => {
    const { folder, server } = await http({ faults: on('push-refs', { kind: 'hang' }) })
    const pushed = push(await changed(folder, server))
    await server.close()
    expect((await pushed).status).toBe(128)
  })

  test('a push to a slow server succeeds', async () => {
    const { folder, server } = await http({ slow: 4000 })
    expect((await push(await changed(folder, server))).status).toBe(0)
  })
})

test('the server requests a password by a 401, and git uses protocol version 2', async () => {
  const { folder, server } = await http({ password: 'correct horse' })
  await cloned(folder, server)
  expect(server.requests[0]).toMatchObject({ status: 401, headers: { 'git-protocol': 'version=2' } })
  expect(server.requests.at(-1)).toMatchObject({ method: 'POST', status: 200 })
  expect((await tryGit(folder, ['clone', server.address, 'other'])).status).toBe(128)
})

test('chunked pushes of large files arrive', async () => {
  const { folder, server } = await http({})
  const work = await changed(folder, server)
  await git(work, 'sparse-checkout', 'disable')
  // Incompressible data, larger than the megabyte that git sends in one piece.
  write(work, { noise: randomBytes(1_500_000).toString('base64') })
  await git(work, 'add', '.')
  await git(work, 'commit', '--quiet', '--message', 'noise')
  expect((await push(work)).status).toBe(0)
  expect(server.requests.some(({ headers }) => headers['transfer-encoding'] === 'chunked')).toBe(true)
})

describe.skipIf(lacksSshd)('sshd (skipped where it is not installed)', () => {
  test('sshd refuses unknown keys, and git refuses an unknown server', async () => {
    const { folder, server } = await serve(bare => sshServer(bare.repository))
    const stranger = await tryGit(folder, ['ls-remote', server.address], { env: server.strangerEnv })
    expect(stranger.stderr).toContain('Permission denied (publickey)')
    const firstTime = await tryGit(folder, ['ls-remote', server.address], { env: server.firstTimeEnv })
    expect(firstTime.stderr).toContain('Host key verification failed')
  })
})

test('a repository with 1000 commits and 2000 files can be created', async () => {
  const { repository } = await bareRepository(makeFolder(), { files: 2000, commits: 1000 })
  expect(await git(repository, 'rev-list', '--count', 'main')).toBe('1000')
  expect((await git(repository, 'ls-tree', '-r', '--name-only', 'main')).split('\n')).toHaveLength(2000)
})
