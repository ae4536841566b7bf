import { readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseLock } from '../../../project/lock.ts'
import { git } from '../../support/git/git.ts'
import { losesRace } from '../../support/git/hooks.ts'
import { COMPOSE, leftIn, publishing } from '../../support/git/publishing.ts'
import { installHooks } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'

const DIGEST = `sha256:${'1'.repeat(64)}`
const PRODUCTION = `
  production:
    namespace: shop
    domain: example.com
    repository: REPOSITORY
    branch: main
    images: {cache: redis:7.4}
`

/** Creates two environments of one application. The image of staging has a digest. */
async function twoEnvironments() {
  const world = await publishing({ environment: `    images: {web: "nginx:1.27@${DIGEST}"}` })
  const { server, source, change } = world
  const manifest = readFileSync(join(source, 'devctl.yml'), 'utf8')
  await change({ 'devctl.yml': `${manifest.trimEnd()}${PRODUCTION.replace('REPOSITORY', server.address)}` })
  const promote = (...words: readonly string[]) => world.devctl('promote', 'staging', 'production', ...words)
  return { ...world, promote }
}

const FOLDER = 'environments/production/shop'

describe('promote', () => {
  test('promote publishes the commit and the image digests of one environment to another', async () => {
    const { source, publish, promote, change, devctl, log, tree, temporary } = await twoEnvironments()
    const commit = await git(source, 'rev-parse', 'HEAD')
    await publish()
    await change({ 'compose.yaml': COMPOSE.replace('redis:7', 'redis:8').replace('8080:80', '8081:81') })
    const { status, stdout, stderr } = await promote()
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'deploy(shop/production): 5 objects added\n' })
    expect(stderr).toContain(`staging has shop at ${commit.slice(0, 7)}`)
    const files = await tree()
    expect(files[`${FOLDER}/web/deployment-web.yaml`]).toContain(`image: nginx:1.27@${DIGEST}`)
    // An image without a digest stays as the environment sets it.
    expect(files[`${FOLDER}/cache/deployment-cache.yaml`]).toContain('image: redis:7.4')
    expect(files[`${FOLDER}/web/service-web.yaml`]).not.toContain('81')
    expect(parseLock(files[`${FOLDER}/.devctl.lock`]!, '').facts).toMatchObject({
      environment: 'production',
      source: { commit },
    })
    expect(await git(source, 'status', '--porcelain')).toBe('')
    expect(await git(source, 'worktree', 'list')).not.toContain('\n')
    expect(leftIn(temporary)).toEqual([])

    if (TAKES_ALL) expect((await promote()).stdout).toMatch(/^unchanged: environments\/production\/shop/)
    await git(source, 'reset', '--quiet', '--hard', commit)
    const again = await devctl('publish', '--environment', 'production', '--image', `web=nginx:1.27@${DIGEST}`)
    expect(again.stdout).toMatch(/^unchanged/)
    expect(await log()).toHaveLength(2)
  })

  test('promote publishes an image that an option or a variable has set without a digest', async () => {
    const { source, env, change, devctl, tree } = await twoEnvironments()
    await change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:${TAG:-1.27}') })
    const manifest = readFileSync(join(source, 'devctl.yml'), 'utf8')
    await change({ 'devctl.yml': manifest.replace(/ {4}images: \{web.*\n/, '') })
    const words = ['publish', '--environment', 'staging', '--image', 'cache=redis:8.2']
    expect(await run(words, { cwd: source, env: { ...env, TAG: '1.28' } })).toMatchObject({ status: 0 })
    expect(await devctl('promote', 'staging', 'production')).toMatchObject({ status: 0 })
    const files = await tree()
    expect(files[`${FOLDER}/cache/deployment-cache.yaml`]).toContain('image: redis:8.2')
    expect(files[`${FOLDER}/web/deployment-web.yaml`]).toContain('image: nginx:1.28\n')
  })

  test('promote leaves out an image of a service that only the source environment has', async () => {
    const { source, publish, promote, change, tree } = await twoEnvironments()
    const manifest = readFileSync(join(source, 'devctl.yml'), 'utf8')
    await change({
      'compose.staging.yaml': `services: {debug: {image: "debug@${DIGEST}"}}\n`,
      'devctl.yml': manifest.replace('  staging:\n', '  staging:\n    compose: [compose.yaml, compose.staging.yaml]\n'),
    })
    expect(await publish()).toMatchObject({ status: 0 })
    expect(await promote()).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('warning: `production` does not have what `staging` has: `debug`\n'),
    })
    expect(Object.keys(await tree()).filter(name => name.startsWith(`${FOLDER}/debug`))).toEqual([])
  })

  test('promote warns if it cannot find out which images an option has set', async () => {
    const { source, env, change, devctl } = await twoEnvironments()
    await change({ 'compose.yaml': COMPOSE.replace('nginx:1.27', 'nginx:${TAG:?}') })
    const manifest = readFileSync(join(source, 'devctl.yml'), 'utf8')
    await change({
      'devctl.yml': manifest
        .replace(/ {4}images: \{web.*\n/, '')
        .replace('images: {', 'variables: {TAG: "1.26"}\n    images: {'),
    })
    const words = ['publish', '--environment', 'staging']
    expect(await run(words, { cwd: source, env: { ...env, TAG: '1.28' } })).toMatchObject({ status: 0 })
    const { stderr } = await devctl('promote', 'staging', 'production')
    expect(stderr).toContain('warning: the files have errors for `staging` here')
    expect(stderr).toContain('`web` has `nginx:1.28`')
  })

  test('promote finds the name of the manifest if the present files have an error', async () => {
    const { source, env, change, devctl } = await twoEnvironments()
    const manifest = readFileSync(join(source, 'devctl.yml'), 'utf8')
    await change({
      'compose.yaml': COMPOSE.replace('name: shop\n', '').replace('nginx:1.27', 'nginx:${TAG:?set TAG}'),
      'devctl.yml': manifest.replace(/ {4}images: \{web.*\n/, ''),
    })
    const words = ['publish', '--environment', 'staging']
    const published = await run(words, { cwd: source, env: { ...env, TAG: '1.28' } })
    expect(published.status, published.stderr).toBe(0)
    expect((await devctl('promote', 'staging', 'production')).stderr).toContain('set TAG')
  })

  test('promote fetches the files that a partial clone lacks', async () => {
    const { source, env, publish, change, tree } = await twoEnvironments()
    const compose = COMPOSE.replace('depends_on', 'env_file: [{path: extra.env, required: false}]\n    depends_on')
    await change({ 'compose.yaml': compose, 'extra.env': 'A=1\n' })
    expect(await publish()).toMatchObject({ status: 0 })
    await change({ 'extra.env': 'A=2\n' })
    await git(source, 'config', 'uploadpack.allowFilter', 'true')
    await git(source, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
    const partial = join(source, '../partial')
    await git(source, 'clone', '--quiet', '--filter=blob:none', `file://${source}`, partial)
    const promoted = await run(['promote', 'staging', 'production'], { cwd: partial, env })
    expect(promoted.status, promoted.stderr).toBe(0)
    const files = await tree()
    expect(files[`${FOLDER}/web/deployment-web.yaml`]).toContain('- name: A\n              value: "1"\n')

    rmSync(join(source, '.git'), { recursive: true })
    const alone = await run(['promote', 'staging', 'production'], { cwd: partial, env })
    expect(alone).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot be fetched') })
  })

  const MOUNTED = COMPOSE.replace('depends_on', 'configs: [app]\n    depends_on')
  const withConfig = (file: string) => `${MOUNTED}configs: {app: {file: "${file}"}}\n`

  test('promote reads a file below ${PWD} from the commit, and refuses the same one by its absolute path', async () => {
    const { source, env, publish, promote, change, tree } = await twoEnvironments()
    const { PWD: _, ...others } = env
    const devctl = (...words: readonly string[]) => run(words, { cwd: source, env: { ...others, PWD: source } })
    await change({ 'compose.yaml': withConfig('${PWD}/app.conf'), 'app.conf': 'committed\n' })
    expect(await devctl('publish', '--environment', 'staging')).toMatchObject({ status: 0 })
    writeFileSync(join(source, 'app.conf'), 'changed\n')
    expect(await devctl('promote', 'staging', 'production')).toMatchObject({ status: 0 })
    expect(JSON.stringify(await tree()).includes('changed')).toBe(false)

    await change({ 'compose.yaml': withConfig(join(source, 'app.conf')) })
    expect(await publish()).toMatchObject({ status: 0 })
    expect(await promote()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`error: \`${join(source, 'app.conf')}\` is a file of this checkout`),
    })
  })

  test('promote refuses a file that only a filter of this repository makes readable', async () => {
    const { source, publish, promote, change } = await twoEnvironments()
    await git(source, 'config', 'filter.demo.smudge', 'sed s/STORED/READABLE/')
    await git(source, 'config', 'filter.demo.clean', 'sed s/READABLE/STORED/')
    const attributes = '*.conf filter=demo\n'
    const path = join(source, 'app.conf')
    writeFileSync(path, 'READABLE\n')
    // A file that is as old as the index would be compared without the filter.
    utimesSync(path, 1_700_000_000, 1_700_000_000)
    await change({ 'compose.yaml': withConfig('./app.conf'), '.gitattributes': attributes })
    expect(await publish()).toMatchObject({ status: 0 })
    expect(await promote()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('error: `app.conf` is stored in another form, which the filter `demo`'),
    })
  })

  test('promote refuses a file of a submodule, whose commit it does not check out', async () => {
    const { source, publish, promote, change } = await twoEnvironments()
    const other = join(source, '../other')
    await git(join(source, '..'), 'init', '--quiet', '--initial-branch=main', other)
    writeFileSync(join(other, 'app.env'), 'A=1\n')
    await git(other, 'add', '.')
    await git(other, 'commit', '--quiet', '--message=one')
    await git(source, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'conf')
    const compose = COMPOSE.replace('depends_on', 'env_file: [{path: conf/app.env, required: false}]\n    depends_on')
    await change({ 'compose.yaml': compose })
    const published = await publish()
    expect(published).toMatchObject({ status: 0, stderr: expect.not.stringContaining('uncommitted') })
    expect(await promote()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('error: `conf/app.env` is in the submodule `conf`'),
    })
    writeFileSync(join(source, 'conf/app.env'), 'A=2\n')
    expect((await publish()).stderr).toContain('warning: the source has uncommitted changes')
    writeFileSync(join(source, 'conf/app.env'), 'A=3\n')
    await git(join(source, 'conf'), 'commit', '--quiet', '--all', '--message=two')
    expect((await publish()).stderr).toContain('warning: the source has uncommitted changes')
    await change({})
    expect((await publish()).stderr).not.toContain('uncommitted')
  })

  longTest('promote keeps uncommitted files, even from a subfolder', async () => {
    const { source, env, publish, change } = await twoEnvironments()
    await publish()
    await change({ 'below/README.md': 'here\n' })
    writeFileSync(join(source, 'compose.yaml'), COMPOSE.replace('nginx', 'changed'))
    const { status, stdout } = await run(['promote', 'staging', 'production'], { cwd: join(source, 'below'), env })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'deploy(shop/production): 5 objects added\n' })
    expect(await git(source, 'status', '--porcelain')).toBe(' M compose.yaml')
  })

  test.each(
    few<[string, (path: string) => readonly string[], (path: string) => Readonly<Record<string, string>>]>([
      ['--env-file', path => ['--env-file', path], () => ({})],
      ['COMPOSE_ENV_FILES', () => [], path => ({ COMPOSE_ENV_FILES: path })],
    ]),
  )('promote reads an absolute path of %s in the promoted commit', async (_, wordsFor, envFor) => {
    const { source, env, publish, change, tree } = await twoEnvironments()
    const compose = COMPOSE.replace('depends_on', 'environment: {A: "${A}"}\n    depends_on')
    await change({ 'compose.yaml': compose, 'app.env': 'A=published\n' })
    await publish('--env-file', 'app.env')
    await change({ 'app.env': 'A=newer\n' })
    const path = join(source, 'app.env')
    const words = ['promote', 'staging', 'production', ...wordsFor(path)]
    const { status } = await run(words, { cwd: source, env: { ...env, ...envFor(path) } })
    const files = Object.entries(await tree()).filter(([name]) => name.startsWith(FOLDER))
    expect(status).toBe(0)
    expect(files.some(([, text]) => text.includes('newer'))).toBe(false)
    expect(files.some(([, text]) => text.includes('published'))).toBe(true)
  })

  test.each(
    few<[string, (link: string) => readonly string[], (link: string) => Readonly<Record<string, string>>]>([
      ['--project-directory', link => ['--project-directory', link], () => ({})],
      ['--env-file', link => ['--env-file', join(link, 'app.env')], () => ({})],
      ['--file', link => ['--file', join(link, 'devctl.yml')], () => ({})],
      ['COMPOSE_FILE', () => [], link => ({ COMPOSE_FILE: join(link, 'compose.yaml') })],
    ]),
  )('promote reads the promoted commit if %s names the project by a link', async (_, wordsFor, envFor) => {
    const { source, env, publish, change, tree } = await twoEnvironments()
    const compose = COMPOSE.replace('depends_on', 'environment: {A: "${A-none}"}\n    depends_on')
    await change({ 'compose.yaml': compose, 'app.env': 'A=published\n' })
    await publish()
    writeFileSync(join(source, 'compose.yaml'), compose.replace('A:', 'UNCOMMITTED: "1", A:'))
    writeFileSync(join(source, 'app.env'), 'A=UNCOMMITTED\n')
    const link = join(source, '../link')
    symlinkSync('source', link)
    const words = ['promote', 'staging', 'production', ...wordsFor(link)]
    const { status, stderr } = await run(words, { cwd: source, env: { ...env, ...envFor(link) } })
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.not.stringContaining('outside') })
    const files = Object.entries(await tree()).filter(([name]) => name.startsWith(FOLDER))
    expect(files.filter(([, text]) => text.includes('UNCOMMITTED'))).toEqual([])
  })

  test('promote names the published commit that lacks the target environment', async () => {
    const world = await publishing()
    await world.publish()
    const commit = await git(world.source, 'rev-parse', 'HEAD')
    const manifest = readFileSync(join(world.source, 'devctl.yml'), 'utf8')
    await world.change({
      'devctl.yml': `${manifest.trimEnd()}${PRODUCTION.replace('REPOSITORY', world.server.address)}`,
    })
    const { status, stderr } = await world.devctl('promote', 'staging', 'production')
    expect(status).toBe(1)
    expect(stderr).toContain(
      `error: the commit ${commit.slice(0, 7)}, which \`staging\` has, does not have the environment \`production\`\n  = help: \`promote\` uses`,
    )
    const [, words] = / with the images of `staging`: `devctl (.*)`/.exec(stderr) ?? []
    expect(await world.devctl(...words!.split(' '))).toMatchObject({ status: 0 })
  })

  test.each(
    few([
      ['-f', 'compose.yaml'],
      ['-f', 'SOURCE/compose.yaml'],
      ['-f', 'devctl.yml'],
    ]),
  )('promote takes the files of %s %s from the commit', async (...words) => {
    const { source, publish, promote } = await twoEnvironments()
    await publish()
    const named = words.map(word => word.replace('SOURCE', source))
    expect(await promote(...named, '--name', 'shop')).toMatchObject({ status: 0, stderr: expect.any(String) })
  })

  test.each(
    few<[string, string, Readonly<Record<string, string>>]>([
      ['--env-file', 'late', {}],
      ['--file', 'late', {}],
      ['', 'late', { COMPOSE_ENV_FILES: 'late' }],
    ]),
  )('promote says that the commit does not have the file of %s, which exists', async (option, path, more) => {
    const { source, env, publish } = await twoEnvironments()
    await publish()
    const commit = await git(source, 'rev-parse', 'HEAD')
    writeFileSync(join(source, path), option === '--file' ? COMPOSE : 'A=1\n')
    const words = ['promote', 'staging', 'production', ...(option === '' ? [] : [option, path]), '--name', 'shop']
    const { status, stderr } = await run(words, { cwd: source, env: { ...env, ...more } })
    expect(status).toBe(1)
    expect(stderr).toContain(`error: the commit ${commit.slice(0, 7)}, which \`staging\` has, does not have \`late\`\n`)
  })

  test('promote warns about a .env that git ignores, because the commit does not have it', async () => {
    const { source, publish, promote, change } = await twoEnvironments()
    await change({ 'compose.yaml': COMPOSE.replace('depends_on', 'environment: {A: "${A-none}"}\n    depends_on') })
    writeFileSync(join(source, '.git/info/exclude'), '.env\n')
    writeFileSync(join(source, '.env'), 'A=1\n')
    expect((await publish()).stderr).not.toContain('warning')
    const { status, stderr } = await promote()
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('warning: `.env` is not used: git ignores it, so the commit '),
    })
  })

  test.each(few(['.env', 'compose.override.yaml']))('promote refuses a deleted, committed %s', async path => {
    const { source, publish, promote, change } = await twoEnvironments()
    const text = path === '.env' ? 'A=1\n' : 'services: {web: {environment: {A: "1"}}}\n'
    await change({ [path]: text })
    rmSync(join(source, path))
    expect((await publish()).stderr).toContain('warning: the source has uncommitted changes')
    expect(await promote()).toMatchObject({ status: 1, stderr: expect.stringContaining('from uncommitted files') })
  })

  test.each(few(['skip-worktree', 'assume-unchanged']))(
    'promote refuses a change that git does not look for, because of %s',
    async flag => {
      const { source, publish, promote } = await twoEnvironments()
      await git(source, 'update-index', `--${flag}`, 'compose.yaml')
      writeFileSync(join(source, 'compose.yaml'), COMPOSE.replace('1.27', '1.28'))
      expect((await publish()).stderr).toContain('warning: the source has uncommitted changes')
      expect(await promote()).toMatchObject({ status: 1, stderr: expect.stringContaining('from uncommitted files') })
      writeFileSync(join(source, 'compose.yaml'), COMPOSE)
      expect((await publish()).stderr).not.toContain('uncommitted')
    },
  )

  test.each(
    few<[string, readonly string[]]>([
      ['in place of the repository', ['--project-directory', '../link']],
      ['in place of a file', ['--file', 'linked.yaml']],
    ]),
  )('promote refuses an uncommitted change of a file that is read through a link %s', async (_, words) => {
    const { source, publish, promote, change } = await twoEnvironments()
    symlinkSync('source', join(source, '../link'))
    symlinkSync('compose.yaml', join(source, 'linked.yaml'))
    await change({})
    writeFileSync(join(source, 'compose.yaml'), COMPOSE.replace('1.27', '1.28'))
    expect((await publish(...words)).stderr).toContain('warning: the source has uncommitted changes')
    expect(await promote()).toMatchObject({ status: 1, stderr: expect.stringContaining('from uncommitted files') })
  })

  const read = [
    ['env file', 'env_file: app.env', 'app.env'],
    ['.env', 'environment: {A: "${A}"}', '.env'],
    ['mounted file', 'volumes: ["./app.conf:/etc/app.conf:ro"]', 'app.conf'],
  ] as const
  test.each(few(read))('promote refuses an uncommitted change of the %s', async (_, key, path) => {
    const { source, publish, promote, change, tree } = await twoEnvironments()
    const compose = COMPOSE.replace('depends_on', `${key}\n    depends_on`)
    await change({ 'compose.yaml': compose, [path]: 'A=1\n' })
    writeFileSync(join(source, path), 'A=999\n')
    expect((await publish()).stderr).toContain('warning: the source has uncommitted changes')
    expect(await promote()).toMatchObject({ status: 1, stderr: expect.stringContaining('from uncommitted files') })
    const commit = await change({})
    await publish()
    const lock = (await tree())['environments/staging/shop/.devctl.lock']!
    expect(parseLock(lock, '').facts?.source).toMatchObject({ commit })
    expect(parseLock(lock, '').facts?.source.isDirty).toBeUndefined()
  })

  test('promote refuses an unpublished environment and one with uncommitted files', async () => {
    const { source, publish, promote } = await twoEnvironments()
    expect(await promote()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('nothing is published for `staging`'),
    })
    writeFileSync(join(source, 'compose.yaml'), COMPOSE.replace('1.27', '1.28'))
    await publish()
    expect(await promote()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('from uncommitted files'),
    })
  })

  longTest('promote fetches a commit that a shallow checkout lacks', async () => {
    const { source, env, publish, change } = await twoEnvironments()
    await publish()
    await change({ 'README.md': 'about\n' })
    const pipeline = join(source, '../pipeline')
    await git(source, 'config', 'uploadpack.allowAnySHA1InWant', 'true')
    await git(join(source, '..'), 'clone', '--quiet', '--depth=1', `file://${source}`, pipeline)
    const { status, stdout } = await run(['promote', 'staging', 'production'], { cwd: pipeline, env })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'deploy(shop/production): 5 objects added\n' })
  })

  longTest('promote opens a pull request, and tries again after a concurrent push', async () => {
    const { server, publish, promote } = await twoEnvironments()
    await publish()
    const { status, stdout } = await promote('--pull-request')
    expect(status).toBe(0)
    expect(stdout).toContain('devctl/production/shop')
    expect(await git(server.repository, 'branch', '--list')).toMatch(/devctl\/production\/shop/)
    installHooks(server.repository, losesRace(1))
    expect((await promote()).stderr).toContain('second try')
  })

  test.each(
    few([
      [['promote', 'staging', 'staging'], 'is promoted to itself'],
      [['promote', 'staging', 'nowhere'], 'environment `nowhere` does not exist'],
      [['promote', 'staging'], 'missing required argument'],
    ]),
  )('the command %j reports: %s', async (words, message) => {
    const { devctl } = await twoEnvironments()
    expect(await devctl(...words)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) })
  })
})
