import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseLock } from '../../../project/lock.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { declines, hangsUpAfter, hangsUpBefore, locksBranch, losesRace } from '../../support/git/hooks.ts'
import { COMPOSE, leftIn, publishing } from '../../support/git/publishing.ts'
import { bareRepository, commitDirectly, installHooks } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'

const FOLDER = 'environments/staging/shop'
const LOCK = `${FOLDER}/.devctl.lock`

describe('the first publish', () => {
  test('publish creates the first commit of an empty repository', async () => {
    const { publish, tree, log, temporary } = await publishing()
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^deploy\(shop\/staging\): \d+ objects added\n$/),
    })
    expect(stderr).toMatch(/Compiled: 5 objects for staging/)
    expect(stderr).toMatch(/Written: environments\/staging\/shop: 7 files added/)
    expect(await log()).toHaveLength(1)
    expect(Object.keys(await tree())).toContain(`${FOLDER}/web/deployment-web.yaml`)
    expect(leftIn(temporary)).toEqual([])
  })

  test('the lock and the commit record the source and the objects', async () => {
    const { publish, tree, change, server } = await publishing()
    const commit = await change({ 'compose.yaml': COMPOSE }, 'a subject')
    await publish()
    const { facts } = parseLock((await tree())[LOCK]!, LOCK)
    expect(facts).toMatchObject({
      environment: 'staging',
      namespace: 'shop-staging',
      source: { commit, path: '.' },
      tool: expect.stringMatching(/^devctl \d/),
      inputs: { 'compose.yaml': expect.stringMatching(/^sha256:/), 'devctl.yml': expect.stringMatching(/^sha256:/) },
      images: { cache: 'redis:7', web: 'nginx:1.27' },
      objects: ['deployment/cache', 'deployment/web', 'ingress/web', 'service/cache', 'service/web'],
    })
    const said = await git(server.repository, 'log', '-1', '--format=%(trailers:only,unfold)', 'main')
    expect(said.split('\n')).toEqual(
      expect.arrayContaining([
        `Devctl-Source: local@${commit}`,
        'Devctl-Environment: staging',
        'Devctl-Image: web=nginx:1.27',
        `Argocd-reference-commit-sha: ${commit}`,
        'Argocd-reference-commit-author: Test Publisher <publisher@example.com>',
        'Argocd-reference-commit-subject: a subject',
      ]),
    )
  })

  longTest('publish creates a missing branch and leaves the others unchanged', async () => {
    const { publish, tree, log, server } = await publishing()
    await commitDirectly(server.repository, { 'README.md': 'ours\n' })
    expect((await publish('--branch', 'staging')).status).toBe(0)
    expect(await log('staging')).toHaveLength(1)
    expect(await tree('main')).toEqual({ 'README.md': 'ours\n' })
  })

  longTest('publish without --branch uses the default branch of the repository', async () => {
    const { devctl, server, log } = await publishing()
    await commitDirectly(server.repository, { 'README.md': 'ours\n' }, { branch: 'trunk' })
    await git(server.repository, 'symbolic-ref', 'HEAD', 'refs/heads/trunk')
    const { status } = await devctl(
      'publish',
      '--repository',
      server.address,
      '--path',
      'shop',
      '--namespace',
      'shop',
      '--domain',
      'd.example.com',
      '-f',
      'compose.yaml',
    )
    expect(status).toBe(0)
    expect(await log('trunk')).toHaveLength(2)
  })

  test('publish leaves files of other users unchanged', async () => {
    const { publish, tree, server } = await publishing()
    const theirs = {
      'environments/README.md': 'theirs\n',
      'environments/staging/namespace.yaml': 'theirs\n',
      'environments/staging/blog/x.yaml': 'theirs\n',
      'a/b.txt': 'b\n',
    }
    await commitDirectly(server.repository, theirs)
    expect((await publish()).status).toBe(0)
    expect(await tree()).toMatchObject(theirs)
  })
})

describe('a second publish', () => {
  test('publish without changes makes no commit, even from a newer commit of the source', async () => {
    const { publish, log, change } = await publishing()
    await publish()
    await change({ 'README.md': 'about\n' })
    const { status, stdout } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(
        /^unchanged: environments\/staging\/shop already holds what compose\.yaml at [0-9a-f]{7} renders to\n$/,
      ),
    })
    expect(await log()).toHaveLength(1)
  })

  test('publish names a new image in its subject and deletes removed objects', async () => {
    const { publish, tree, log, change } = await publishing()
    await publish()
    await change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.28') })
    const { status, stdout } = await publish('--dry-run')
    expect(status).toBe(0)
    expect(stdout).toMatch(/~ deployment\/web .*\n.*containers\[web\]\.image\n\s+- nginx:1\.27\n\s+\+ nginx:1\.28/)
    expect(await log()).toHaveLength(1)
    expect((await publish()).stdout).toBe('deploy(shop/staging): web 1.27 → 1.28\n')
    expect(await log()).toHaveLength(2)
    await change({ 'compose.yaml': 'name: shop\nservices:\n  web:\n    image: nginx:1.28\n    ports: ["8080:80"]\n' })
    expect((await publish()).stdout).toBe('deploy(shop/staging): remove deployment/cache, remove service/cache\n')
    const files = Object.keys(await tree())
    expect(files.filter(path => path.includes('cache'))).toEqual([])
    expect(files).toContain(`${FOLDER}/web/service-web.yaml`)
  })

  test('publish --verify reports whether the repository matches the source', async () => {
    const { publish, change, server } = await publishing()
    await publish()
    expect((await publish('--verify')).status).toBe(0)
    await commitDirectly(server.repository, { [`${FOLDER}/web/service-web.yaml`]: 'kind: Service\n' })
    expect(await publish('--verify')).toMatchObject({ status: 1, stderr: expect.stringContaining('service-web.yaml') })
    await change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.28') })
    expect((await publish('--verify')).status).toBe(1)
  })

  longTest('publish --output json prints its result as JSON', async () => {
    const { publish } = await publishing()
    expect(JSON.parse((await publish('--output', 'json')).stdout)).toMatchObject({
      outcome: 'pushed',
      branch: 'main',
      path: FOLDER,
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
    })
    expect(JSON.parse((await publish('--output', 'json')).stdout)).toMatchObject({ outcome: 'unchanged' })
  })
})

describe('the published files', () => {
  const options = (address: string) => {
    const words = ['publish', '--repository', address, '--path', 'shop', '--domain', 'example.com', '--namespace', 'a']
    return (at: string, ...more: readonly string[]) => [
      ...[...words, '-f', join(at, 'compose.yaml'), '-f', join(at, 'deploy/more.yaml')],
      ...['--env-file', join(at, 'deploy/prod.env'), ...more],
    ]
  }
  test.each([
    { remotes: [] },
    { remotes: ['https://git.example.com/team/linkbox.git', 'git@git.example.com:other/name.git'] },
  ])('the published files do not depend on the checkout, its remotes or the folder: $remotes', async ({ remotes }) => {
    const { publish, source, server, change, env, log, tree } = await publishing()
    await change({ 'deploy/more.yaml': 'services: {more: {image: "redis:7"}}\n', 'deploy/prod.env': 'A=1\n' })
    await publish()
    const words = options(server.address)
    expect(await run(words('.'), { cwd: source, env })).toMatchObject({ status: 0 })
    const clone = join(source, '../deploy')
    await git(join(source, '..'), 'clone', '--quiet', source, clone)
    await git(clone, 'remote', 'remove', 'origin')
    for (const [index, url] of remotes.entries())
      await git(clone, 'remote', 'add', index === 0 ? 'origin' : 'upstream', url)
    const inClone = { cwd: clone, env }
    expect(await run(['publish', '--environment', 'staging', '--verify'], inClone)).toMatchObject({ status: 0 })
    expect(await run(words('.', '--verify'), inClone)).toMatchObject({ status: 0 })
    const below = { cwd: join(clone, 'deploy'), env }
    expect(await run(words('..', '--verify'), below)).toMatchObject({ status: 0 })
    expect(await run(words(clone, '--verify'), { cwd: env['TMPDIR']!, env })).toMatchObject({ status: 0 })
    expect(await run(words('..'), below)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged/) })
    expect(await log()).toHaveLength(2)
    const files = await tree()
    expect(files['shop/more/deployment-more.yaml']).toMatch(/^# deploy\/more.yaml#services.more\n/)
    expect(files['shop/README.md']).toContain(
      ' --file compose.yaml --file deploy/more.yaml --env-file deploy/prod.env ',
    )
  })
})

describe('older and newer sources', () => {
  test('publish does not replace a newer commit of the source with an older one', async () => {
    const { publish, source, log, change } = await publishing()
    const older = await change({ 'compose.yaml': COMPOSE.replace('1.27', '1.26') })
    const newer = await change({ 'compose.yaml': COMPOSE })
    await publish()
    await git(source, 'checkout', '--quiet', older)
    const { status, stdout } = await publish()
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining(`holds ${newer.slice(0, 7)}, which is newer`),
    })
    expect(await log()).toHaveLength(1)
    expect((await publish('--rollback')).stdout).toBe('deploy(shop/staging): web 1.27 → 1.26\n')
  })

  test.each([{ isPushed: true }, { isPushed: false }])(
    'publish warns about a commit that lacks the published one: $isPushed',
    async ({ isPushed }) => {
      const { publish, source, change, env, log } = await publishing()
      const other = join(source, '../other')
      await git(join(source, '..'), 'clone', '--quiet', source, other)
      const theirs = (await change({ 'compose.yaml': COMPOSE.replace('redis:7', 'redis:8') })).slice(0, 7)
      write(other, { 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:alpine') })
      await git(other, 'commit', '--quiet', '--all', '--message', 'alpine')
      const ours = (await git(other, 'rev-parse', 'HEAD')).slice(0, 7)
      expect((await publish()).stderr).not.toContain('warning')
      if (isPushed) await git(other, 'fetch', '--quiet', 'origin')
      const words = ['publish', '--environment', 'staging']
      const inOther = (...more: readonly string[]) => run([...words, ...more], { cwd: other, env })
      const text = `warning: \`${FOLDER}\` holds ${theirs}, which is not contained in ${ours}: its changes are undone\n`
      for (const more of few([['--dry-run'], ['--verify'], ['--pull-request']])) {
        const { stderr } = await inOther(...more)
        expect(stderr.split(text), stderr).toHaveLength(2)
      }
      expect((await inOther('--dry-run', '--rollback')).stderr).not.toContain('warning')
      const { status, stderr } = await inOther()
      expect({ status, parts: stderr.split(text).length }, stderr).toEqual({ status: 0, parts: 2 })
      expect(stderr).toContain('--rollback')
      expect((await inOther()).stderr).not.toContain('warning')
      await git(other, 'pull', '--quiet', '--no-rebase', '--no-edit', 'origin', 'main')
      expect((await inOther()).stderr).not.toContain('warning')
      expect(await log()).toHaveLength(3)
    },
  )

  longTest('publish in a shallow clone asks its remote which commit is newer', async () => {
    const { publish, source, server, change, env } = await publishing()
    const older = await change({ 'compose.yaml': COMPOSE.replace('1.27', '1.26') })
    await change({ 'compose.yaml': COMPOSE })
    await publish()
    const pipeline = join(source, '../pipeline')
    await git(source, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
    await git(source, 'branch', 'old', older)
    await git(join(source, '..'), 'clone', '--quiet', '--depth=1', '--branch=old', `file://${source}`, pipeline)
    const { stdout } = await run(['publish', '--environment', 'staging'], { cwd: pipeline, env })
    expect(stdout).toContain('which is newer than')
    expect(await git(pipeline, 'rev-parse', '--is-shallow-repository')).toBe('true')
    expect(await git(server.repository, 'rev-list', '--count', 'main')).toBe('1')
  })
})

describe('conflicts in the repository', () => {
  test('publish refuses a file that was edited by hand until --take-over', async () => {
    const { publish, server, log, change, tree } = await publishing()
    await publish()
    const path = `${FOLDER}/web/deployment-web.yaml`
    const edited = (await tree())[path]!.replace('nginx:1.27', 'nginx:1.27-debug')
    await commitDirectly(server.repository, { [path]: edited })
    await change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:1.28') })
    const { status, stderr } = await publish()
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('was edited by hand since devctl wrote it'),
    })
    expect(stderr).toContain('--take-over')
    expect(stderr).toContain(`--- ${path} (as it is)\n+++ ${path} (what devctl writes)\n@@ -`)
    expect(stderr).toMatch(/\n-\s+image: nginx:1\.27-debug\n\+\s+image: nginx:1\.28\n[\s\S]*\nerror: 1 edited file/)
    expect(await log()).toHaveLength(2)
    expect((await publish('--take-over')).status).toBe(0)
    expect(await log()).toHaveLength(3)
  })

  longTest('the diff of an edited file hides secrets and has a limited length', async () => {
    const { publish, server } = await publishing()
    await publish()
    const secret = 'hunter2-is-very-long'
    const many = Array.from({ length: 300 }, (_, index) => `line-${index}: x`).join('\n')
    const text = `- name: DB_PASSWORD\n  value: ${secret}\nurl: https://a:${secret}@b/\n${many}\n`
    await commitDirectly(server.repository, { [`${FOLDER}/web/deployment-web.yaml`]: text })
    const { status, stderr } = await publish()
    expect(status).toBe(1)
    expect(stderr).toContain('-url: https://a:***@b/')
    expect(stderr).not.toContain(secret)
    expect(stderr).toMatch(/\n… \d+ more lines\n/)
    expect(stderr.split('\n').length).toBeLessThan(60)
  })

  longTest('publish --verify lists edited, outdated, foreign and missing files', async () => {
    const { publish, server, change } = await publishing()
    await publish()
    await commitDirectly(server.repository, {
      [`${FOLDER}/web/service-web.yaml`]: 'kind: Service\n',
      [`${FOLDER}/api/deployment-api.yaml`]: 'theirs\n',
    })
    await change({ 'compose.yaml': `${COMPOSE.replace('nginx:1.27', 'nginx:1.28')}  api:\n    image: api:1\n` })
    const { status, stderr } = await publish('--verify')
    expect(status).toBe(1)
    for (const line of [
      `\`${FOLDER}/web/service-web.yaml\` was edited by hand`,
      `\`${FOLDER}/web/deployment-web.yaml\` is out of date`,
      `\`${FOLDER}/api/deployment-api.yaml\` is not devctl's`,
      `\`${FOLDER}/api/service-api.yaml\` is missing`,
      '--take-over',
    ])
      expect(stderr).toContain(line)
  })

  test('publish refuses a file of another user in place of its own', async () => {
    const { publish, server } = await publishing()
    await commitDirectly(server.repository, { [`${FOLDER}/web/deployment-web.yaml`]: 'theirs\n' })
    expect(await publish()).toMatchObject({ status: 1, stderr: expect.stringContaining("is not devctl's") })
  })

  test('publish refuses a symbolic link in the path of its folder', async () => {
    const { publish, server } = await publishing()
    await commitDirectly(server.repository, {}, { links: { environments: '/tmp' } })
    expect(await publish()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('`environments` in the repository is a symbolic link'),
    })
  })

  test.each(
    few([
      ['environments', 'is a file'],
      ['environments/staging/shop', 'is a file'],
    ]),
  )('publish refuses a file in place of the folder %s', async (path, message) => {
    const { publish, server } = await publishing()
    await commitDirectly(server.repository, { [path]: 'theirs\n' })
    expect(await publish()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`\`${path}\` in the repository ${message}`),
    })
  })

  test('publish refuses the folder and the objects of another application', async () => {
    const { publish } = await publishing()
    await publish()
    expect(await publish('--name', 'other', '--path', FOLDER)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('contains the manifests of the application `shop`'),
    })
    const { status, stderr } = await publish('--name', 'other')
    expect(status).toBe(1)
    expect(stderr).toContain('`environments/staging/shop` contains the same objects for the namespace `shop-staging`')
    expect(stderr).toContain('deployment/cache')
    expect((await publish('--name', 'other', '--namespace', 'other')).status).toBe(0)
  })

  test('publish refuses routes without a domain', async () => {
    const { devctl, server } = await publishing()
    const words = ['publish', '-f', 'compose.yaml', '--repository', server.address, '--path', 'shop']
    expect(await devctl(...words)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/error\[routes\/no-domain\]/),
    })
  })
})

describe('a push', () => {
  test('publish applies its changes again after a concurrent push', async () => {
    const { publish, server, log } = await publishing()
    await commitDirectly(server.repository, { 'README.md': 'ours\n' })
    installHooks(server.repository, losesRace(2))
    const before = (await log()).length
    const { status, stderr } = await publish('--path', 'again', '--name', 'again', '--namespace', 'again')
    expect(status).toBe(0)
    expect(stderr).toMatch(/third try: another push came first/)
    expect(await log()).toHaveLength(before + 3)
    expect(await git(server.repository, 'rev-list', '--merges', '--count', 'main')).toBe('0')
  })

  test.each(
    few([
      ['a locked branch', locksBranch(1)],
      ['a server that hangs up', hangsUpBefore(1)],
    ]),
  )('publish tries again after %s', async (_, hooks) => {
    const { publish, server, log } = await publishing()
    await commitDirectly(server.repository, { 'README.md': 'ours\n' })
    installHooks(server.repository, hooks)
    expect((await publish('--path', 'again', '--name', 'again', '--namespace', 'again')).status).toBe(0)
    expect(await log()).toHaveLength(2)
  })

  test('publish makes no second commit after a lost answer', async () => {
    const { publish, server, log } = await publishing()
    await commitDirectly(server.repository, { 'README.md': 'ours\n' })
    installHooks(server.repository, hangsUpAfter(1))
    const { status, stdout } = await publish('--path', 'again', '--name', 'again', '--namespace', 'again')
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('deploy(again/staging)') })
    expect(await log()).toHaveLength(2)
  })

  test('publish reports the message of a server hook that declines the push', async () => {
    const { publish, server } = await publishing()
    installHooks(server.repository, declines('only on Tuesdays'))
    const { status, stderr } = await publish()
    expect(status).toBe(1)
    expect(stderr).toContain('only on Tuesdays')
    expect(stderr).toContain('--pull-request')
  })

  longTest('publish refuses to start without a git author', async () => {
    const { source, env, server } = await publishing()
    const nobody = {
      ...env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'user.useConfigOnly',
      GIT_CONFIG_VALUE_0: 'true',
    }
    const { status, stderr } = await run(['publish', '--environment', 'staging'], { cwd: source, env: nobody })
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('the git author identity is not set'),
    })
    expect(await git(server.repository, 'for-each-ref')).toBe('')
  })

  longTest('publish to a local checkout updates its files', async () => {
    const { source, publish } = await publishing()
    const checkout = join(source, '../deploy')
    await git(source, 'init', '--quiet', '--initial-branch=main', checkout)
    write(checkout, { 'README.md': 'ours\n' })
    await git(checkout, 'add', '.')
    await git(checkout, 'commit', '--quiet', '--message', 'begin')
    expect((await publish('--repository', '../deploy')).status).toBe(0)
    expect(await git(checkout, 'status', '--porcelain')).toBe('')
    expect(await git(checkout, 'log', '--format=%s')).toMatch(/^deploy\(shop\/staging\)/)
    write(checkout, { 'README.md': 'changed\n' })
    const { status, stderr } = await publish(
      '--repository',
      '../deploy',
      '--path',
      'x',
      '--name',
      'x',
      '--namespace',
      'x',
    )
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('has unstaged changes') })
  })
})

describe('the address of the repository', () => {
  test.each(
    few(
      [
        ['--repository=ext::sh -c false', 'is not a repository URL'],
        ['--repository=--upload-pack=x', 'is not a repository URL'],
        ['--repository=nowhere', 'the folder `nowhere` does not exist'],
        ['--repository=.devctl-nothing', 'does not exist'],
        ['--repository=http://127.0.0.1:1/x.git', 'is not reachable'],
      ],
      2,
    ),
  )('publish with %s reports: %s', async (word, message) => {
    const { publish } = await publishing()
    expect(await publish(word)).toMatchObject({ status: 1, stderr: expect.stringContaining(message) })
  })

  test('publish needs the address of the repository', async () => {
    const { devctl } = await publishing()
    expect(await devctl('publish', '--domain', 'd.example.com', '-f', 'compose.yaml')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('the GitOps repository is not known'),
    })
  })

  test.each(few(['../x', '/x', 'a//b', '.git', 'a/../b'], 2))('publish refuses the folder %s', async path => {
    const { publish } = await publishing()
    expect(await publish('--path', path)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('not a folder in a repository'),
    })
  })
})

longTest('publish keeps all files and commits of a large repository', async () => {
  const big = await bareRepository(makeFolder(), { files: 200, commits: 40 })
  const { publish, server, tree } = await publishing({ server: big })
  await publish()
  expect(Object.keys(await tree()).length).toBeGreaterThan(200)
  expect(await git(server.repository, 'rev-list', '--count', 'main')).toBe('41')
})

longTest('publish warns about parts of the manifest that only deploy uses', async () => {
  const { publish, source } = await publishing()
  const manifest = readFileSync(join(source, 'devctl.yml'), 'utf8')
  write(source, {
    'devctl.yml': `${manifest}deploy:\n  compose: compose.yaml\n  commands:\n    - echo hello\ndependencies:\n  - https://git.example.com/team/login.git\n`,
  })
  const { status, stderr } = await publish()
  expect(status).toBe(0)
  expect(stderr).toMatch(
    /warning\[manifest\/not-published\]: the commands of `deploy` are not published\n\s+--> devctl\.yml:\d+:7/,
  )
  expect(stderr).toContain('dependencies are not published')
})

test('publish refuses files without services and keeps what is published', async () => {
  const { publish, change, log } = await publishing()
  await publish()
  for (const compose of [
    'name: shop\nservices: {}\n',
    COMPOSE.replaceAll('    image:', '    profiles: [other]\n    image:'),
  ]) {
    await change({ 'compose.yaml': compose })
    const { status, stdout, stderr } = await publish()
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('error: the files have no services to publish\n')
  }
  expect(await log()).toHaveLength(1)
})

describe('a source that is in no commit', () => {
  test('publish warns about uncommitted files, and the next publish of a commit clears the record', async () => {
    const { publish, source, change, tree, log } = await publishing()
    const compose = COMPOSE.replace('1.27', '1.28')
    write(source, { 'compose.yaml': compose })
    expect((await publish()).stderr).toContain('warning: the source has uncommitted changes')
    expect(parseLock((await tree())[LOCK]!, LOCK).facts?.source.isDirty).toBe(true)
    const commit = await change({ 'compose.yaml': compose })
    expect(await publish()).toMatchObject({
      status: 0,
      stdout: 'deploy(shop/staging): only the record of the source changed\n',
    })
    expect(parseLock((await tree())[LOCK]!, LOCK).facts?.source).toEqual({ commit, path: '.' })
    expect((await publish()).stdout).toMatch(/^unchanged/)
    expect(await log()).toHaveLength(2)
  })
})

longTest('publish without a repository suggests an environment that has one', async () => {
  const { devctl } = await publishing()
  expect(await devctl('publish')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('add `--environment staging`'),
  })
})
