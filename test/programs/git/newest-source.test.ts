import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { noteName } from '../../../gitops/repository/note-name.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { git, gitEnv, tryGit } from '../../support/git/git.ts'
import type { Hooks } from '../../support/git/hooks.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { start } from '../../support/git/processes.ts'
import { manifestFor, type Publishing, publishing } from '../../support/git/publishing.ts'
import { bareRepository, installHooks } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { expectCleanHistory } from './history.ts'
import { withConfig } from './own-git.ts'

const NOTE = 'refs/devctl/environments/staging/shop/@main'
const composeOf = (tag: string) => `name: shop\nservices: {web: {image: "nginx:${tag}"}}\n`

/** Records each push that reaches the hooks of the server, one line for each. */
const COUNTS: Hooks = { 'pre-receive': 'echo "$(cut -d" " -f3 | sort | tr "\\n" " ")" >>pushes\n' }
const REFUSES_NOTES: Hooks = { update: 'case "$1" in refs/devctl/*) echo "branches only" >&2; exit 1;; esac\n' }

/**
 * Creates an application whose commits 1, 2, 3, … have these images, and returns a function that publishes one of
 * them.
 */
async function ordered(tags: readonly string[], hooks: Hooks = {}) {
  const root = makeFolder()
  const server = await bareRepository(root, { files: { 'README.md': 'ours\n' }, hooks })
  const project = await publishing({ server, compose: composeOf('begin') })
  const commits: string[] = []
  for (const [index, tag] of tags.entries())
    commits.push(await project.change({ 'compose.yaml': composeOf(tag) }, `change ${index + 1}`))
  const publish = async (number: number, ...words: readonly string[]) => {
    await git(project.source, 'checkout', '--quiet', '--detach', commits[number - 1]!)
    const { status, stdout, stderr } = await project.publish('--output', 'json', ...words)
    expect(status, stderr).toBe(0)
    return { ...JSON.parse(stdout), stderr } as { outcome: string; source?: string; stderr: string }
  }
  return { ...project, commits, publishCommit: publish }
}

async function imageIn({ tree }: Publishing): Promise<string | undefined> {
  return /image: (\S+)/.exec((await tree())['environments/staging/shop/web/deployment-web.yaml'] ?? '')?.[1]
}

const notedIn = async ({ server }: Publishing) =>
  /^Devctl-Source: (.*)$/m.exec((await tryGit(server.repository, ['log', '-1', '--format=%B', NOTE])).stdout)?.[1]

const pushesTo = ({ server }: Publishing) => {
  const file = join(server.repository, 'pushes')
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split(/ *\n/) : []
}

describe('a newer source that renders to the published manifests', () => {
  longTest('publish notes a newer source without a commit, and then skips an older source', async () => {
    const app = await ordered(['1.25', '1.26', '1.25', '1.27'], COUNTS)
    expect((await app.publishCommit(1)).outcome).toBe('pushed')
    const head = await git(app.server.repository, 'rev-parse', 'main')
    expect((await app.publishCommit(3)).outcome).toBe('unchanged')
    expect(await notedIn(app)).toBe(app.commits[2])
    for (const words of [[], ['--dry-run']])
      expect(await app.publishCommit(2, ...words)).toMatchObject({ outcome: 'newer', source: app.commits[2] })
    expect(await git(app.server.repository, 'rev-parse', 'main')).toBe(head)
    // A newer commit is published at once.
    const forward = await app.publishCommit(4)
    expect(forward.outcome).toBe('pushed')
    expect(forward.stderr).not.toMatch(/try/)
    expect(await notedIn(app)).toBe(app.commits[3])
    expect(await imageIn(app)).toBe('nginx:1.27')
    expect(pushesTo(app)).toEqual([`${NOTE} refs/heads/main`, NOTE, `${NOTE} refs/heads/main`])
    await git(app.server.repository, 'fsck', '--strict')
  })

  test('publish notes an unchanged source once', async () => {
    const app = await ordered(['1.25', '1.25'], COUNTS)
    await app.publishCommit(1)
    await app.publishCommit(1)
    expect(pushesTo(app)).toHaveLength(1)
    if (TAKES_ALL) {
      await app.publishCommit(2, '--verify')
      await app.publishCommit(2, '--dry-run')
      expect(pushesTo(app)).toHaveLength(1)
    }
    await app.publishCommit(2)
    await app.publishCommit(2)
    expect((await app.publishCommit(1)).outcome).toBe('unchanged')
    expect(pushesTo(app)).toHaveLength(2)
    expect(await notedIn(app)).toBe(app.commits[1])
  })

  longTest('publish --rollback replaces a newer source with an older one', async () => {
    const app = await ordered(['1.25', '1.26', '1.25', '1.26'])
    await app.publishCommit(1)
    await app.publishCommit(3)
    expect((await app.publishCommit(2)).outcome).toBe('newer')
    expect((await app.publishCommit(2, '--rollback')).outcome).toBe('pushed')
    expect(await notedIn(app)).toBe(app.commits[1])
    expect((await app.publishCommit(4)).outcome).toBe('unchanged')
    expect((await app.publishCommit(3)).outcome).toBe('newer')
    // A rollback to the same manifests commits nothing, but allows newer commits again.
    expect((await app.publishCommit(2, '--rollback')).outcome).toBe('unchanged')
    expect(await notedIn(app)).toBe(app.commits[1])
    expect((await app.publishCommit(3)).outcome).toBe('pushed')
    expect(await imageIn(app)).toBe('nginx:1.25')
  })

  longTest('publish ignores a note after the folder was reverted or removed', async () => {
    const app = await ordered(['1.25', '1.26', '1.27', '1.27'])
    const { repository } = app.server
    await app.publishCommit(1)
    const first = await git(repository, 'rev-parse', 'main')
    await app.publishCommit(3)
    await app.publishCommit(4)
    expect((await app.publishCommit(2)).outcome).toBe('newer')
    await git(repository, 'update-ref', 'refs/heads/main', first)
    expect((await app.publishCommit(2)).outcome).toBe('pushed')
    expect(await notedIn(app)).toBe(app.commits[1])
    await app.publishCommit(3)
    await git(repository, 'update-ref', 'refs/heads/main', `${first}~1`)
    expect((await app.publishCommit(1)).outcome).toBe('pushed')
    expect(await notedIn(app)).toBe(app.commits[0])
  })

  longTest('publish notes the source for each branch', async () => {
    const app = await ordered(['1.25', '1.26', '1.25'])
    for (const branch of ['main', 'live/eu']) await app.publishCommit(1, '--branch', branch)
    await app.publishCommit(3, '--branch', 'live/eu')
    expect((await app.publishCommit(2, '--branch', 'live/eu')).outcome).toBe('newer')
    expect((await app.publishCommit(2)).outcome).toBe('pushed')
    expect(await git(app.server.repository, 'for-each-ref', '--format=%(refname)', 'refs/devctl')).toBe(
      `${NOTE.replace('main', 'live%2Feu')}\n${NOTE}`,
    )
  })

  longTest('publish of uncommitted changes respects a note and writes none', async () => {
    const app = await ordered(['1.25', '1.26', '1.25'])
    await app.publishCommit(1)
    await app.publishCommit(3)
    await git(app.source, 'checkout', '--quiet', app.commits[1]!)
    write(app.source, { 'compose.yaml': composeOf('1.99') })
    expect((await app.publish()).stdout).toMatch(/^skipped: /)
    await git(app.source, 'checkout', '--quiet', '--force', app.commits[2]!)
    write(app.source, { 'compose.yaml': composeOf('1.99') })
    const note = await git(app.server.repository, 'rev-parse', NOTE)
    expect((await app.publish()).stdout).toMatch(/^deploy/)
    expect(await git(app.server.repository, 'rev-parse', NOTE)).toBe(note)
    await git(app.source, 'checkout', '--quiet', '--force', app.commits[2]!)
    expect((await app.publish()).stdout).toMatch(/^deploy/)
    expect(await notedIn(app)).toBe(app.commits[2])
  })

  longTest('publish notes the source in a SHA-256 repository and in an empty one', async () => {
    const root = makeFolder()
    const server = await bareRepository(root)
    await git(root, 'init', '--quiet', '--bare', '--object-format=sha256', '--initial-branch=main', 'long.git')
    // git reports the object format of an empty repository only to clients of some versions.
    const begin = 'commit refs/heads/main\ncommitter A <a@example.com> 0 +0000\ndata 0\n'
    await tryGit(join(root, 'long.git'), ['fast-import', '--quiet'], { input: begin })
    for (const repository of [server.repository, join(root, 'long.git')]) {
      const app = await publishing({ server: { ...server, repository, address: `file://${repository}` } })
      for (const subject of few(['same', 'same again'])) {
        expect(await app.publish()).toMatchObject({ status: 0 })
        await app.change({}, subject)
      }
      expect((await app.publish()).stdout).toMatch(/^unchanged/)
      expect(await notedIn(app)).toBe(await git(app.source, 'rev-parse', 'HEAD'))
      await git(repository, 'fsck', '--strict')
    }
  })
})

describe('servers with limits', () => {
  const unable: Readonly<Record<string, (repository: string) => Promise<unknown>>> = {
    'that lets nobody push such refs': async repository => installHooks(repository, REFUSES_NOTES),
    'that looks at all refs at once': async repository =>
      installHooks(repository, { 'pre-receive': '! grep -q refs/devctl/\n' }),
    'that hides such refs': repository => git(repository, 'config', 'transfer.hideRefs', 'refs/devctl'),
    'that does not know how to take two refs together': repository =>
      git(repository, 'config', 'receive.advertiseAtomic', 'false'),
  }
  test.each(few(Object.entries(unable)))('publish works with a server %s', async (_, make) => {
    const app = await ordered(['1.25', '1.25', '1.26', '1.27'])
    await make(app.server.repository)
    const { numbers, expected } = TAKES_ALL
      ? { numbers: [1, 2, 2, 3, 4, 3], expected: ['pushed', 'unchanged', 'unchanged', 'pushed', 'pushed', 'newer'] }
      : { numbers: [1, 2, 4, 3], expected: ['pushed', 'unchanged', 'pushed', 'newer'] }
    const outcomes: string[] = []
    for (const number of numbers) {
      const { outcome, stderr } = await app.publishCommit(number)
      expect(stderr).not.toMatch(/devctl\/|atomic|branches only|try/)
      outcomes.push(outcome)
    }
    expect(outcomes).toEqual(expected)
    expect(await imageIn(app)).toBe('nginx:1.27')
  })

  longTest('publish asks a server that declines the branch only once', async () => {
    const app = await ordered(['1.25'], {
      update: 'echo "$1" >>asked\ncase "$1" in refs/heads/*) echo "not today" >&2; exit 1;; esac\n',
    })
    const { status, stderr } = await app.publish()
    expect(status).toBe(1)
    expect(stderr).toContain('refused the push')
    expect(stderr).toContain('not today')
    const asked = readFileSync(join(app.server.repository, 'asked'), 'utf8').trim().split('\n')
    expect(asked.filter(name => name === 'refs/heads/main')).toHaveLength(1)
    expect(await tryGit(app.server.repository, ['rev-parse', '--verify', '--quiet', NOTE])).toMatchObject({ status: 1 })
  })

  longTest('publish to a read-only server reports an unchanged folder', async () => {
    const app = await ordered(['1.25', '1.25'])
    await app.publishCommit(1)
    const env = withConfig(app.env, { 'url.file:///nowhere/to.be.pushInsteadOf': app.server.address })
    const result = await run(['publish', '--environment', 'staging'], { cwd: app.source, env })
    expect(result).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
    expect(await notedIn(app)).toBe(app.commits[0])
  })
})

test('noteName returns valid and distinct refs for all folders and branches', async () => {
  const names = [
    noteName('.', 'main'),
    noteName('a/b.lock', 'main'),
    noteName('a', 'x~1^{}: ?*[\\@{'),
    noteName('-é/%2E/@main', '..'),
    noteName('a/@main', 'main'),
    noteName('a', 'main'),
  ]
  expect(names.slice(0, 2)).toEqual(['refs/devctl/%2E/@main', 'refs/devctl/a/b%2Elock/@main'])
  const repository = (await bareRepository(makeFolder(), { files: { a: 'a' } })).repository
  for (const name of names) await git(repository, 'update-ref', name, 'main')
  expect((await git(repository, 'for-each-ref', '--format=%(refname)', 'refs/devctl')).split('\n')).toHaveLength(6)
})

test('a newer source that changes nothing is published after an older one that came in between', async () => {
  const app = await ordered(['1.25', '1.26', '1.25'])
  await app.publishCommit(1)
  const folder = makeFolder()
  await git(folder, 'clone', '--quiet', '--no-checkout', app.source, 'newest')
  const newest = join(folder, 'newest')
  await git(newest, 'checkout', '--quiet', '--detach', app.commits[2]!)
  let isFirst = true
  const server = await httpServer(app.server.repository, {
    // The clone has the folder of commit 1; the note is fetched after commit 2 was published.
    faults: async ({ kind, count }) => {
      if (kind !== 'fetch-refs' || count !== 2 || !isFirst) return undefined
      isFirst = false
      await app.publishCommit(2)
      return undefined
    },
  })
  onTestFinished(() => server.close())
  const env = withConfig({ ...gitEnv(), ...server.env }, {})
  const words = ['publish', '--environment', 'staging', '--repository', server.address]
  const { status, stderr } = await run(words, { cwd: newest, env })
  expect(status, stderr).toBe(0)
  expect(isFirst).toBe(false)
  expect(await imageIn(app)).toBe('nginx:1.25')
  expect(await notedIn(app)).toBe(app.commits[2])
})

const ROUNDS = TAKES_ALL ? 6 : 1
/** Image tags of the commits. The newest one renders like some older ones and unlike others. */
const TAGS = TAKES_ALL ? ['1.25', '1.26', '1.25', '1.27', '1.26', '1.25', '1.28', '1.25'] : ['1.25', '1.28', '1.25']

const HOW = {
  'by its path, on one machine': false,
  'over http, each on a machine of its own': true,
}

describe(`${TAGS.length} commits published at the same moment`, () => {
  test.each(few(Object.entries(HOW)))(
    'concurrent publishes end with the newest commit: %s',
    { timeout: 300_000 },
    async (_, isHttp) => {
      for (let round = 0; round < ROUNDS; round++) {
        const app = await ordered(TAGS)
        const bare = app.server
        const server = isHttp ? await httpServer(bare.repository) : bare
        onTestFinished(() => server.close())
        // Alternates between a repository with an earlier publish and an empty one.
        if ((round + Number(isHttp)) % 2) await app.publishCommit(1)
        const begin = await git(bare.repository, 'rev-parse', 'main~0')
        const root = makeFolder()
        const runs = app.commits.map(async (commit, index) => {
          const folder = join(root, `source-${index}`)
          await git(root, 'clone', '--quiet', '--no-checkout', app.source, folder)
          await git(folder, 'checkout', '--quiet', '--detach', commit)
          write(folder, { 'devctl.yml': manifestFor(server.address) })
          await git(folder, 'update-index', '--assume-unchanged', 'devctl.yml')
          const temporary = join(root, isHttp ? `tmp-${index}` : 'tmp')
          mkdirSync(temporary, { recursive: true })
          const env = withConfig({ ...gitEnv(), ...server.env, TMPDIR: temporary }, {})
          return start(['publish', '--environment', 'staging'], { cwd: folder, env }).ended
        })
        const ended = await Promise.all(runs)
        expect(ended.map(({ status, stderr }) => (status === 0 ? 0 : stderr))).toEqual(TAGS.map(() => 0))
        const said = `round ${round}\n${ended.map(({ stdout }) => stdout).join('')}`
        expect(await imageIn(app), said).toBe(`nginx:${TAGS.at(-1)}`)
        expect(await notedIn(app), said).toBe(app.commits.at(-1))
        await expectCleanHistory(bare.repository, begin)
      }
    },
  )
})
