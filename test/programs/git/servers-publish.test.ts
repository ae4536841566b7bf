import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { type Exchange, type Fault, type Faults, on } from '../../support/git/faults.ts'
import { git } from '../../support/git/git.ts'
import { gitDaemon } from '../../support/git/git-daemon.ts'
import { declinesNext } from '../../support/git/hooks.ts'
import { type HttpOptions, httpServer } from '../../support/git/http-server.ts'
import { processesWith } from '../../support/git/processes.ts'
import { leftIn, type Publishing, publishing } from '../../support/git/publishing.ts'
import { bareRepository, commitDirectly, type GitServer, installHooks } from '../../support/git/repository.ts'
import { findSshd, sshServer } from '../../support/git/ssh-server.ts'
import { lacks } from '../../support/lacks.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { expectValidLocks, treeAt } from './history.ts'
import { makeHooks, withConfig } from './own-git.ts'

const PASSWORD = 'correct-horse-battery'

/** Creates a project whose GitOps repository has a file and is behind a server. */
async function behind<S extends GitServer>(
  serve: (bare: GitServer) => Promise<S>,
  env = (server: S) => server.env,
): Promise<Publishing & { readonly begun: S }> {
  const begun = await serve(await bareRepository(makeFolder(), { files: { 'README.md': 'ours\n' } }))
  onTestFinished(() => begun.close())
  return { ...(await publishing({ server: { ...begun, env: env(begun) } })), begun }
}

const overHttp = (options: HttpOptions) => behind(bare => httpServer(bare.repository, options))

/** Expects a first publish to succeed; in `npm run test:long` one without changes and one with a change, too. */
async function expectPublishes({ publish, change, server, temporary }: Publishing): Promise<void> {
  expect(await publish()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^deploy\(shop\/staging\): /) })
  if (TAKES_ALL) {
    expect((await publish()).stdout).toMatch(/^unchanged: /)
    await change({ 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
    expect((await publish()).status).toBe(0)
  }
  const tree = await treeAt(server.repository)
  expectValidLocks(tree)
  expect(tree['README.md']).toBe('ours')
  expect(await git(server.repository, 'rev-list', '--count', 'main')).toBe(TAKES_ALL ? '3' : '2')
  expect(leftIn(temporary)).toEqual([])
}

describe('publish to git servers', () => {
  longTest('publish works with git daemon', async () => {
    await expectPublishes(await behind(bare => gitDaemon(bare.repository)))
  })

  test('publish over http uses the credential helper of the user', async () => {
    await expectPublishes(await overHttp({ password: PASSWORD }))
  })

  longTest('publish over http uses a token of the environment', async () => {
    const token = () => ({
      DEVCTL_GIT_TOKEN: PASSWORD,
      DEVCTL_GIT_USERNAME: 'publisher',
      DEVCTL_GIT_TOKEN_HOST: '127.0.0.1',
    })
    await expectPublishes(await behind(bare => httpServer(bare.repository, { password: PASSWORD }), token))
  })

  describe.skipIf(lacks('sshd', findSshd() === undefined))('ssh (skipped if sshd is not installed)', () => {
    test('publish over ssh works with a key', async () => {
      await expectPublishes(await behind(bare => sshServer(bare.repository)))
    })

    longTest('publish over ssh works with an scp address', async () => {
      const serve = async (bare: GitServer) => {
        const server = await sshServer(bare.repository)
        const { username, port, pathname } = new URL(server.address)
        const env = { GIT_SSH_COMMAND: `${server.env['GIT_SSH_COMMAND']} -p ${port}` }
        return { ...server, env, address: `${username}@127.0.0.1:${pathname}` }
      }
      await expectPublishes(await behind(serve))
    })

    test('publish over ssh reports a key that the server does not know', async () => {
      const { publish, temporary } = await behind(
        bare => sshServer(bare.repository),
        server => server.strangerEnv,
      )
      const { status, stderr } = await publish()
      expect(status).toBe(1)
      expect(stderr).toMatch(/authentication failed for [^\n]*\n[\s\S]*Permission denied \(publickey\)/)
      expect(leftIn(temporary)).toEqual([])
    })
  })
})

describe('a password', () => {
  const sources = {
    'of the environment': {
      DEVCTL_GIT_TOKEN: PASSWORD,
      DEVCTL_GIT_USERNAME: 'publisher',
      DEVCTL_GIT_TOKEN_HOST: '127.0.0.1',
    },
    'of a credential helper': undefined,
  }
  test.each(few(Object.entries(sources)))('a password %s is stored and printed nowhere else', async (_, env) => {
    const serve = (bare: GitServer) => httpServer(bare.repository, { password: PASSWORD })
    const project = await behind(serve, server => env ?? server.env)
    const trace = join(makeFolder(), 'trace')
    // git writes down each command that it runs, with all of its words; what is in the copy is written down by a hook.
    const hooks = makeHooks({ 'pre-commit': `cat .git/config .git/info/* >${trace}-files` })
    const config = { ...project.env, GIT_TRACE: trace, GIT_TRACE2_EVENT: `${trace}-2` }
    const more = withConfig(config, { 'core.hooksPath': hooks })
    const lines = new Set<string>()
    const watch = setInterval(() => {
      for (const line of processesWith(`TMPDIR=${project.temporary}`)) lines.add(line)
    }, 10)
    const { status, stdout, stderr } = await run(['publish', '--environment', 'staging'], {
      cwd: project.source,
      env: more,
    })
    clearInterval(watch)
    expect({ status, stderr }).toMatchObject({ status: 0 })
    const commit = await git(project.server.repository, 'log', '-1', '--patch', 'main')
    // The user's own helper is a command with the password in it here: that of the environment is not.
    const commands = env ? [...lines, readFileSync(trace, 'utf8'), readFileSync(`${trace}-2`, 'utf8')] : []
    const places = [stdout, stderr, commit, readFileSync(`${trace}-files`, 'utf8'), ...commands]
    expect(places.filter(text => text.includes(PASSWORD))).toEqual([])
    expect(readFileSync(trace, 'utf8')).toContain('git push')
  })

  test('a wrong password is reported without its value', async () => {
    const project = await behind(
      bare => httpServer(bare.repository, { password: PASSWORD }),
      () => ({ DEVCTL_GIT_TOKEN: 'wrong-horse', DEVCTL_GIT_TOKEN_HOST: '127.0.0.1' }),
    )
    const { status, stdout, stderr } = await project.publish()
    expect(status).toBe(1)
    expect(stderr).toMatch(/authentication failed/)
    expect(stdout + stderr).not.toContain('wrong-horse')
    expect(project.begun.requests.length).toBeLessThan(6)
  })

  longTest('a password in the address is used and not shown', async () => {
    const serve = async (bare: GitServer) => {
      const server = await httpServer(bare.repository, { password: PASSWORD })
      return { ...server, address: server.address.replace('://', `://publisher:${PASSWORD}@`) }
    }
    const project = await behind(serve, () => ({}))
    const { status, stdout, stderr } = await project.publish()
    expect(status, stderr).toBe(0)
    expect(stdout + stderr).not.toContain(PASSWORD)
    expect(await git(project.server.repository, 'log', '-1', '--patch', 'main')).not.toContain(PASSWORD)
  })
})

if (TAKES_ALL)
  describe('messages after a lost race', () => {
    const texts = [
      "cannot lock ref 'refs/heads/main': is at 1234567 but expected 89abcde",
      "cannot lock ref 'refs/heads/main': Unable to create '/x/main.lock': File exists",
      'incorrect old value provided',
      'reference already exists',
    ]
    test.each(texts)('publish tries again after the message: %s', async text => {
      const { publish, server, log } = await behind(async bare => bare)
      installHooks(server.repository, declinesNext(2, text))
      const { status, stderr } = await publish()
      expect(status, stderr).toBe(0)
      expect(stderr).toMatch(/third try: another push came first/)
      expect(await log()).toHaveLength(2)
    })
  })

describe('connections that are cut', () => {
  const afterwards = { kind: 'status', status: 504, afterwards: true } as const
  const cases: readonly (readonly [string, Exchange['kind'], Fault, number])[] = [
    ['while it fetches commits', 'fetch', { kind: 'cut-answer', after: 60 }, 1],
    ['before the push has come', 'push', { kind: 'cut-request', after: 50 }, 1],
    ['in the middle of the answer to a push', 'push', { kind: 'cut-answer', after: 5 }, 1],
    ['by a gateway, after a push', 'push', afterwards, 1],
    ['when it asks what there is', 'fetch-refs', { kind: 'cut-answer', after: 40 }, 1],
    ['while it fetches files', 'fetch', { kind: 'cut-answer', after: 60 }, 2],
    ['when it asks before a push', 'push-refs', { kind: 'cut-answer', after: 40 }, 1],
    ['before the answer to a push', 'push', { kind: 'cut-answer', after: 0 }, 1],
    ['by a gateway, before a push', 'push', { kind: 'status', status: 502 }, 1],
    ['by a server that has too much to do', 'push', { kind: 'status', status: 503 }, 1],
  ]
  test.each(few(cases))('publish makes one commit if the connection is cut %s', async (_, kind, fault, first) => {
    const { publish, begun, log, temporary } = await overHttp({ faults: on(kind, fault, { first }) })
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringMatching(/^deploy\(shop\/staging\)/) })
    expect(await log()).toHaveLength(2)
    expectValidLocks(await treeAt(begun.repository))
    expect(leftIn(temporary)).toEqual([])
  })

  longTest('publish finds its commit after a lost answer and a push of another user', async () => {
    let repository = ''
    const faults: Faults = async ({ kind, count }) => {
      if (kind === 'fetch-refs' && repository !== '') await commitDirectly(repository, { 'theirs.txt': 'x\n' })
      if (kind !== 'push' || count > 1) return undefined
      repository = project.server.repository
      return afterwards
    }
    const project = await overHttp({ faults })
    const { status, stdout } = await project.publish()
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^deploy\(shop\/staging\)/) })
    const subjects = await project.log()
    expect(subjects.filter(subject => subject.startsWith('deploy('))).toHaveLength(1)
  })

  longTest('publish ends if the connection is cut at every push', async () => {
    const faults: Faults = ({ kind }) => (kind === 'push' ? { kind: 'status', status: 502 } : undefined)
    const { publish, log, temporary } = await overHttp({ faults })
    const { status, stderr } = await publish('--timeout', '20s')
    expect(status).toBe(1)
    expect(stderr).toMatch(/broke again and again|not done within 20/)
    expect(await log()).toHaveLength(1)
    expect(leftIn(temporary)).toEqual([])
  })
})

describe('the time limit of publish', () => {
  const hang = { kind: 'hang' } as const
  const cases: readonly (readonly [string, (bare: GitServer) => Promise<GitServer>])[] = [
    ['a server that hangs at a push', bare => httpServer(bare.repository, { faults: on('push', hang) })],
    ['a slow daemon', bare => gitDaemon(bare.repository, { slow: 40 })],
    ['a server that says nothing', bare => httpServer(bare.repository, { faults: () => hang })],
    ['a slow server', bare => httpServer(bare.repository, { slow: 40 })],
    ['a daemon that says nothing', bare => gitDaemon(bare.repository, { faults: () => hang })],
    ['a server that hangs at a fetch', bare => httpServer(bare.repository, { faults: on('fetch', hang) })],
  ]
  test.each(few(cases))('publish ends at its time limit with %s', async (_, serve) => {
    const { publish, server, temporary } = await behind(serve)
    const began = performance.now()
    const { status, stderr } = await publish('--timeout', '3s')
    expect(status).toBe(1)
    expect(stderr).toMatch(/error: not done within 3\.0 s\n {2}= help: .*`--timeout`; nothing was published partially/)
    // Cleaning up takes time as well on a busy machine.
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(await git(server.repository, 'rev-list', '--count', 'main')).toBe('1')
    expect(leftIn(temporary)).toEqual([])
    expect(processesWith(`TMPDIR=${temporary}`)).toEqual([])
  })
})
