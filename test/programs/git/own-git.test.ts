import { execFileSync } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LOCK_NAME } from '../../../project/lock.ts'
import { root } from '../../support/cases.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { forwardProxy } from '../../support/git/forward-proxy.ts'
import { type Env, git, tryGit } from '../../support/git/git.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { leftIn, type Publishing, publishing } from '../../support/git/publishing.ts'
import { bareRepository, commitDirectly } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { expectValidLocks, treeAt } from './history.ts'
import { makeHooks, withConfig } from './own-git.ts'

const FOLDER = 'environments/staging/shop'

const publishWith = ({ source, env }: Publishing, config: Readonly<Record<string, string>>, more: Env = {}) =>
  run(['publish', '--environment', 'staging'], { cwd: source, env: { ...withConfig(env, config), ...more } })

const lastCommit = ({ server }: Publishing, format: string) =>
  git(server.repository, 'log', '-1', `--format=${format}`, 'main')

describe('git settings of the user', () => {
  test('publish signs its commit if git signs commits of the user', async () => {
    const project = await publishing()
    const folder = makeFolder()
    const key = join(folder, 'key')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const allowed = join(folder, 'allowed')
    writeFileSync(allowed, `publisher@example.com ${readFileSync(`${key}.pub`, 'utf8')}`)
    const signing = { 'gpg.format': 'ssh', 'user.signingKey': key, 'commit.gpgSign': 'true' }
    expect((await publishWith(project, signing)).status).toBe(0)
    const config = ['-c', `gpg.ssh.allowedSignersFile=${allowed}`]
    const { status, stderr } = await tryGit(project.server.repository, [...config, 'verify-commit', 'main'])
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringMatching(/^Good "git" signature for publisher@/),
    })
  })

  longTest('publish reports a failed signature and publishes nothing', async () => {
    const project = await publishing()
    const signing = { 'gpg.format': 'ssh', 'user.signingKey': '/nowhere/key', 'commit.gpgSign': 'true' }
    const { status, stderr } = await publishWith(project, signing)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('git refused to commit') })
    expect(stderr).toContain('/nowhere/key')
    expect(await git(project.server.repository, 'for-each-ref')).toBe('')
    expect(leftIn(project.temporary)).toEqual([])
  })

  test('publish runs git hooks, which may add to the message', async () => {
    const project = await publishing()
    const hooks = makeHooks({
      'pre-commit': 'exit 0',
      'commit-msg': 'echo "Reviewed-by: Nobody <n@example.com>" >>"$1"',
    })
    expect((await publishWith(project, { 'core.hooksPath': hooks })).status).toBe(0)
    const trailers = await lastCommit(project, '%(trailers:only,unfold)')
    expect(trailers).toMatch(/^Devctl-Source: /m)
    expect(trailers).toMatch(/^Reviewed-by: Nobody/m)
  })

  longTest('publish runs the hooks of a git template', async () => {
    const project = await publishing()
    const hooks = makeHooks({ 'commit-msg': 'echo "Reviewed-by: Template <t@example.com>" >>"$1"' })
    const template = makeFolder()
    renameSync(hooks, join(template, 'hooks'))
    expect((await publishWith(project, { 'init.templateDir': template })).status).toBe(0)
    expect(await lastCommit(project, '%B')).toContain('Reviewed-by: Template')
    await project.change({ 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
    expect((await publishWith(project, {}, { GIT_TEMPLATE_DIR: template })).status).toBe(0)
    expect(await lastCommit(project, '%B')).toContain('Reviewed-by: Template')
  })

  test.each(few(['pre-push', 'pre-commit', 'commit-msg']))('publish shows a refusal of the %s hook', async name => {
    const project = await publishing()
    const hooks = makeHooks({ [name]: 'echo "no commits on a Friday" >&2\nexit 1' })
    const { status, stderr } = await publishWith(project, { 'core.hooksPath': hooks })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('no commits on a Friday') })
    expect(await git(project.server.repository, 'for-each-ref')).toBe('')
    expect(leftIn(project.temporary)).toEqual([])
  })

  test('publish does not wait for background processes of a hook', async () => {
    const project = await publishing()
    const hooks = makeHooks({ 'pre-commit': 'sleep 25 & exit 0' })
    const began = performance.now()
    expect((await publishWith(project, { 'core.hooksPath': hooks })).status).toBe(0)
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  longTest('publish uses the author that git sets for the repository', async () => {
    const project = await publishing()
    const other = join(makeFolder({ config: '[user]\n\tname = Deployments\n\temail = bot@example.com\n' }), 'config')
    const key = `includeIf.hasconfig:remote.*.url:${project.server.address}.path`
    expect((await publishWith(project, { [key]: other })).status).toBe(0)
    // Such a condition counts in files of git only, not in variables.
    const file = join(makeFolder({ config: '' }), 'config')
    await git(project.source, 'config', '--file', file, key, other)
    await project.change({ 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
    expect((await publishWith(project, {}, { GIT_CONFIG_GLOBAL: file })).status).toBe(0)
    expect(await lastCommit(project, '%an <%ae>')).toBe('Deployments <bot@example.com>')
  })

  longTest('publish connects through the proxy of git', async () => {
    const bare = await bareRepository(makeFolder())
    const server = await httpServer(bare.repository)
    const proxy = await forwardProxy(Number(new URL(server.address).port))
    onTestFinished(async () => void (await Promise.all([server.close(), proxy.close()])))
    const address = 'http://gitops.invalid/repository.git'
    const project = await publishing({ server: { ...server, address } })
    const { status, stderr } = await publishWith(project, { 'http.proxy': proxy.address })
    expect(status, stderr).toBe(0)
    expect(proxy.asked.every(url => url.startsWith(address))).toBe(true)
    expect(Object.keys(await treeAt(server.repository))).toContain(`${FOLDER}/${LOCK_NAME}`)
  })

  longTest('publish works with unusual git settings', async () => {
    const project = await publishing()
    const odd = {
      'core.autocrlf': 'true',
      'core.safecrlf': 'true',
      'core.quotePath': 'true',
      'core.fsmonitor': 'true',
      'status.showUntrackedFiles': 'no',
      'push.default': 'nothing',
      'push.followTags': 'true',
      'push.autoSetupRemote': 'true',
      'fetch.prune': 'true',
      'fetch.writeCommitGraph': 'true',
      'commit.verbose': 'true',
      'commit.cleanup': 'scissors',
      'commit.template': '/nowhere',
      'advice.detachedHead': 'true',
      'color.ui': 'always',
      'submodule.recurse': 'true',
      'checkout.workers': '4',
      'clone.defaultRemoteName': 'upstream',
      'init.defaultBranch': 'trunk',
      'core.sparseCheckoutCone': 'true',
      'index.sparse': 'true',
      'pull.rebase': 'true',
    }
    expect((await publishWith(project, odd)).stderr).toMatch(/Pushed: main /)
    expect((await publishWith(project, odd)).stdout).toMatch(/^unchanged/)
    await project.change({ 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
    const { status, stderr } = await publishWith(project, odd)
    expect(status, stderr).toBe(0)
    expectValidLocks(await treeAt(project.server.repository))
    expect(await git(project.server.repository, 'log', '-1', '--format=%B', 'main')).not.toContain('\u001b')
  })
})

test('publish ignores the variables that git sets for its hooks', async () => {
  const project = await publishing()
  const other = makeFolder({ 'a.txt': 'a\n' })
  await git(other, 'init', '--quiet')
  await git(other, 'add', '.')
  const before = readFileSync(join(other, '.git/index')).toString('hex')
  const { status, stderr } = await publishWith(
    project,
    {},
    {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, '.git/index'),
      GIT_OBJECT_DIRECTORY: join(other, '.git/objects'),
      GIT_PREFIX: 'x/',
      GIT_NAMESPACE: 'x',
      GIT_LITERAL_PATHSPECS: '1',
      GIT_SHALLOW_FILE: join(other, 'shallow'),
    },
  )
  expect(status, stderr).toBe(0)
  expect(await lastCommit(project, '%B')).toContain(await git(project.source, 'rev-parse', 'HEAD'))
  expect(readFileSync(join(other, '.git/index')).toString('hex')).toBe(before)
  expect(await git(other, 'count-objects')).toMatch(/^1 objects/)
  expect((await git(project.server.repository, 'for-each-ref', '--format=%(refname)')).split('\n')).toEqual([
    'refs/devctl/environments/staging/shop/@main',
    'refs/heads/main',
  ])
})

test('publish works in a hook of the source repository', async () => {
  const project = await publishing()
  write(project.source, { 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
  const program = join(root, 'bin/devctl.cjs')
  const hooks = makeHooks({ 'post-commit': `"${process.execPath}" ${program} publish --environment staging >&2` })
  const env = withConfig(project.env, { 'core.hooksPath': hooks })
  await git(project.source, 'add', '.')
  const { status, stderr } = await tryGit(project.source, ['commit', '--quiet', '--message', 'from a hook'], { env })
  expect(status, stderr).toBe(0)
  expect(stderr).toMatch(/deploy\(shop\/staging\)/)
  expect(await lastCommit(project, '%B')).toContain(`${await git(project.source, 'rev-parse', 'HEAD')}`)
})

describe('a repository', () => {
  test('publish works with a server that does not allow partial fetches', async () => {
    const server = await bareRepository(makeFolder(), { files: 50, commits: 10 })
    await git(server.repository, 'config', 'uploadpack.allowFilter', 'false')
    const { publish } = await publishing({ server })
    expect((await publish()).status).toBe(0)
    expect((await publish()).stdout).toMatch(/^unchanged/)
    expect(await git(server.repository, 'rev-list', '--count', 'main')).toBe('11')
  })

  longTest('publish fetches only its folder and the lock files of a large repository', async () => {
    const files = TAKES_ALL ? 2000 : 300
    const server = await bareRepository(makeFolder(), { files, commits: TAKES_ALL ? 5000 : 300 })
    await commitDirectly(server.repository, { [`environments/staging/blog/${LOCK_NAME}`]: '{}\n', 'README.md': 'x\n' })
    const project = await publishing({ server })
    const list = join(makeFolder(), 'list')
    const hooks = makeHooks({
      'pre-commit': `find . -path ./.git -prune -o -type f -print | sort >${list}\ngit rev-list --all --count >>${list}\ngit cat-file --batch-all-objects --batch-check='%(objecttype)' | grep -c blob >>${list}`,
    })
    expect((await publishWith(project, { 'core.hooksPath': hooks })).status).toBe(0)
    const lines = readFileSync(list, 'utf8').trimEnd().split('\n')
    const [commits, blobs] = lines.slice(-2).map(Number)
    const ours = lines.slice(0, -2)
    expect(ours.filter(path => !path.startsWith(`./${FOLDER}/`))).toEqual([`./environments/staging/blog/${LOCK_NAME}`])
    expect(ours).toHaveLength(9)
    expect(commits).toBe(1)
    expect(blobs).toBeLessThan(20)
    expect(Object.keys(await treeAt(server.repository))).toHaveLength(files + 2 + 8)
  })

  test.each(
    few([
      ['* text eol=crlf\n*.yaml working-tree-encoding=UTF-16LE\n'],
      ['* text=auto eol=crlf\n'],
      ['* text=auto\n'],
      ['* ident\n'],
    ]),
  )('publish writes the files unchanged despite the git attributes %j', async attributes => {
    const project = await publishing()
    await commitDirectly(project.server.repository, { '.gitattributes': attributes })
    const all: readonly Readonly<Record<string, string>>[] = [{ 'core.autocrlf': 'true' }, {}, { 'core.eol': 'crlf' }]
    const wishes = few(all)
    for (const [index, config] of wishes.entries()) {
      await project.change({ 'compose.yaml': `name: shop\nservices: {web: {image: "nginx:1.${index}"}}\n` })
      expect((await publishWith(project, config)).stdout).toMatch(/^deploy/)
      expect((await publishWith(project, config)).stdout).toMatch(/^unchanged/)
    }
    const compose = `name: shop\nservices: {web: {image: "nginx:1.${wishes.length - 1}"}}\n`
    const plain = await publishing({ compose })
    await plain.publish()
    const { '.gitattributes': _, ...tree } = await treeAt(project.server.repository)
    const [{ [`${FOLDER}/${LOCK_NAME}`]: lock, ...ours }, theirs] = [tree, await treeAt(plain.server.repository)]
    expect(lock).toContain('"version": 2')
    for (const [path, text] of Object.entries(ours)) expect(text, path).toBe(theirs[path])
  })

  test.each(few(['*\n', '*.lock\n', '/environments/\n', '.*\n*.yaml\n']))(
    'publish commits all of its files although the repository ignores %j',
    async ignored => {
      const project = await publishing()
      await commitDirectly(project.server.repository, { '.gitignore': ignored })
      expect((await project.publish()).status).toBe(0)
      expect(Object.keys(await project.tree())).toHaveLength(9)
      expect((await project.publish()).stdout).toMatch(/^unchanged/)
      await project.change({ 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
      expect((await project.publish()).status).toBe(0)
      expectValidLocks(await treeAt(project.server.repository))
    },
  )

  longTest('publish keeps files with unusual names next to its own', async () => {
    const project = await publishing()
    const odd = {
      [`${FOLDER}/web/ü ñ.txt`]: 'a\n',
      [`${FOLDER}/web/"quoted".txt`]: 'b\n',
      [`${FOLDER}/*.yaml`]: 'c\n',
      [`${FOLDER}/:(exclude)x`]: 'd\n',
      [`${FOLDER}/-rf`]: 'e\n',
      [`${FOLDER}/line\nend`]: 'f\n',
      [`environments/staging/[s]hop/${LOCK_NAME}`]: '{}\n',
      'back\\slash': 'g\n',
    }
    await commitDirectly(project.server.repository, odd)
    expect((await project.publish()).status).toBe(0)
    const trimmed = Object.fromEntries(Object.entries(odd).map(([path, text]) => [path, text.trimEnd()]))
    expect(await treeAt(project.server.repository)).toMatchObject(trimmed)
    expect((await project.publish()).stdout).toMatch(/^unchanged/)
  })

  test.each(few(['a [b]/ü/ñ/a*/with"quote/end ', ':(top)x', '#x', '!x', '-x']))(
    'publish works with the folder name %j',
    async path => {
      const project = await publishing()
      await commitDirectly(project.server.repository, { 'README.md': 'x\n', 'a/b.txt': 'x\n' })
      const { status, stderr } = await project.publish(`--path=${path}`)
      expect(status, stderr).toBe(0)
      expect(Object.keys(await treeAt(project.server.repository))).toContain(`${path}/${LOCK_NAME}`)
      expect((await project.publish(`--path=${path}`)).stdout).toMatch(/^unchanged/)
      if (!TAKES_ALL) return
      await project.change({ 'compose.yaml': 'name: shop\nservices: {web: {image: "nginx:1.28"}}\n' })
      expect((await project.publish(`--path=${path}`)).stdout).toMatch(/^deploy/)
      expect((await project.publish('--verify', `--path=${path}`)).status).toBe(0)
    },
  )

  test.each(few(['sha256', 'sha1'], 0))('publish works with %s object ids of the repository', async format => {
    const folder = makeFolder()
    const repository = join(folder, 'repository.git')
    await git(folder, 'init', '--quiet', '--bare', `--object-format=${format}`, '--initial-branch=main', repository)
    const server = { ...(await bareRepository(makeFolder())), address: `file://${repository}`, repository }
    await commitDirectly(repository, { 'README.md': 'ours\n' })
    const project = await publishing({ server })
    const more = { GIT_DEFAULT_HASH: format === 'sha1' ? 'sha256' : 'sha1' }
    for (const expected of [/^deploy/, /^unchanged/]) {
      const { status, stdout, stderr } = await publishWith(project, {}, more)
      expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: expect.stringMatching(expected) })
    }
  })
})
