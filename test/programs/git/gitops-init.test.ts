import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { declines, hangsUpAfter, losesRace } from '../../support/git/hooks.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { COMPOSE, leftIn, manifestFor, type Publishing, publishing } from '../../support/git/publishing.ts'
import { bareRepository, commitDirectly, installHooks } from '../../support/git/repository.ts'
import type { Result } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { everythingIn, leakIn } from './leaks.ts'
import { withRepositoryAt } from './own-git.ts'

interface Initialising extends Publishing {
  /** Runs `devctl gitops init --environment staging` with more words. */
  init(...words: readonly string[]): Promise<Result>
}

/**
 * Returns an application whose repository has an http address, as controllers read it. Git reads and writes its files
 * unless `isHttp`.
 */
async function initialising(environment = '', { isHttp = false } = {}): Promise<Initialising> {
  const bare = await bareRepository(makeFolder())
  const server = await httpServer(bare.repository, { password: 'correct horse' })
  onTestFinished(() => server.close())
  const env = isHttp ? server.env : withRepositoryAt(server.address, bare.address, server.env)
  const own = await publishing({ server: { ...server, env }, environment })
  return { ...own, init: (...words) => own.devctl('gitops', 'init', '--environment', 'staging', ...words) }
}

const documents = (text: string) => parseAllDocuments(text).map(document => document.toJS())
const FILE = 'argocd/shop-staging.yaml'

test('gitops init --argocd commits an Application for the published folder', async () => {
  // A merge waits for a publish over http in `servers-publish.test.ts`.
  const { init, publish, tree, log, server, temporary } = await initialising('', { isHttp: TAKES_ALL })
  await publish()
  const { status, stdout } = await init('--argocd')
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^added: argocd\/shop-staging\.yaml \(main [0-9a-f]{7}\)\n/),
  })
  expect(stdout).toContain(`\`kubectl apply -f ${FILE}\``)
  expect(stdout).toContain(`argocd repo add ${server.address}`)
  const files = await tree()
  expect(documents(files[FILE]!)).toMatchObject([
    {
      kind: 'Application',
      metadata: { name: 'shop-staging' },
      spec: {
        source: { repoURL: server.address, targetRevision: 'main', path: 'environments/staging/shop' },
        destination: { namespace: 'shop-staging' },
      },
    },
  ])
  expect(await log()).toEqual([
    'gitops(shop/staging): let Argo CD sync environments/staging/shop',
    'deploy(shop/staging): 5 objects added',
  ])
  const trailers = await git(server.repository, 'log', '-1', '--format=%(trailers:only)', 'main')
  expect(trailers.split('\n')).toEqual(
    expect.arrayContaining(['Devctl-Application: shop', 'Devctl-Environment: staging']),
  )
  // No lock file lists it: a publish neither changes it nor is changed by it.
  expect((await publish()).stdout).toMatch(/^unchanged: /)
  expect((await publish('--verify')).status).toBe(0)
  expect(leftIn(temporary)).toEqual([])
})

test('gitops init --flux commits a GitRepository and a Kustomization to an empty repository', async () => {
  const { init, tree, server } = await initialising()
  const { stdout } = await init('--flux')
  expect(stdout).toContain(`flux create secret git shop-staging-git --url=${server.address}`)
  expect(stdout).toContain('kubectl create namespace shop-staging')
  expect(Object.keys(await tree())).toEqual(['flux/shop-staging.yaml'])
  expect(documents((await tree())['flux/shop-staging.yaml']!)).toMatchObject([
    { kind: 'GitRepository', spec: { url: server.address, ref: { branch: 'main' } } },
    { kind: 'Kustomization', spec: { path: './environments/staging/shop' } },
  ])
})

test('gitops init keeps an existing file with any content', async () => {
  const { init, tree, log, server } = await initialising()
  await init('--argocd')
  expect(await init('--argocd')).toMatchObject({ status: 0, stdout: `unchanged: ${FILE} is there already\n` })
  await commitDirectly(server.repository, { [FILE]: 'mine\n' })
  expect(await init('--argocd')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^unchanged: argocd\/shop-staging\.yaml is there already, and differs from/),
  })
  expect((await tree())[FILE]).toBe('mine\n')
  expect(await log()).toHaveLength(2)
})

test.each([['--argocd'], ['--flux']])(
  'gitops init %s refuses the name of the object of another application',
  async controller => {
    const { devctl, tree, log, change, server } = await initialising()
    const folder = controller.slice(2)
    const manifest = (name: string, key: string) =>
      manifestFor(server.address).replace('shop', name).replace('staging:', `${key}:`)
    const init = (key: string, ...words: readonly string[]) =>
      devctl('gitops', 'init', controller, '--environment', key, ...words)
    await change({ 'devctl.yml': manifest('shop', 'eu-prod') })
    expect(await init('eu-prod')).toMatchObject({ status: 0 })
    const file = `${folder}/shop-eu-prod.yaml`
    const before = await tree()
    await change({
      'devctl.yml': manifest('shop-eu', 'prod'),
      'compose.yaml': COMPOSE.replace('name: shop', 'name: shop-eu'),
    })
    const { status, stderr } = await init('prod')
    expect(status).toBe(1)
    expect(stderr).toContain(
      `\`${file}\` has the object \`shop-eu-prod\` for \`environments/eu-prod/shop\`, not for \`environments/prod/shop-eu\``,
    )
    expect(stderr).toContain('help: rename')
    expect(await tree()).toEqual(before)
    // Another file of the folder may have the object.
    await commitDirectly(server.repository, { [file]: undefined, [`${folder}/renamed.yaml`]: before[file]! })
    expect(await init('prod')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`\`${folder}/renamed.yaml\` has`),
    })
    expect(await log()).toHaveLength(2)
    expect(await init('prod', '--into', 'other')).toMatchObject({ status: 0 })
  },
)

test.each(['empty', 'without the branch'])(
  'gitops init refuses a pull request into a repository that is %s',
  async how => {
    const { init, server } = await initialising()
    if (how !== 'empty') await commitDirectly(server.repository, { a: 'b\n' }, { branch: 'other' })
    const { status, stderr } = await init('--flux', '--pull-request', '--branch', 'main')
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('`main` has no commit yet') })
    expect(await git(server.repository, 'for-each-ref', 'refs/heads/devctl-flux')).toBe('')
  },
)

test('gitops init --print prints the manifests, and needs the repository only for the branch', async () => {
  const { init, devctl, server } = await initialising()
  const { status, stdout } = await init('--argocd', '--print')
  expect(status).toBe(0)
  expect(documents(stdout)).toMatchObject([{ kind: 'Application' }])
  const offline = await init('--flux', '--print', '--repository', 'ssh://git@127.0.0.1:1/deploy.git')
  expect(offline).toMatchObject({ status: 0, stderr: '' })
  expect(documents(offline.stdout)).toMatchObject([
    { spec: { url: 'ssh://git@127.0.0.1:1/deploy.git' } },
    { kind: 'Kustomization' },
  ])
  await commitDirectly(server.repository, { a: 'b\n' }, { branch: 'trunk' })
  await git(server.repository, 'symbolic-ref', 'HEAD', 'refs/heads/trunk')
  const words = ['--repository', server.address, '--path', 'shop', '--namespace', 'shop', '-f', 'compose.yaml']
  const without = await devctl('gitops', 'init', '--argocd', '--print', ...words)
  expect(documents(without.stdout)).toMatchObject([
    { metadata: { name: 'shop' }, spec: { source: { targetRevision: 'trunk', path: 'shop' } } },
  ])
})

test('gitops init --dry-run prints what it would commit', async () => {
  const { init, server } = await initialising()
  const { status, stdout } = await init('--flux', '--dry-run', '--into', 'clusters/one')
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^would be added to main: clusters\/one\/shop-staging\.yaml\n\n# /),
  })
  expect(await git(server.repository, 'for-each-ref')).toBe('')
})

longTest('gitops init --into accepts any folder and keeps other files in it', async () => {
  const { init, tree, server } = await initialising()
  await commitDirectly(server.repository, { 'clusters/one/theirs.yaml': 'theirs\n' })
  for (const into of ['clusters/one', '.']) {
    expect((await init('--argocd', '--into', into)).status).toBe(0)
    expect((await init('--argocd', '--into', into)).stdout).toContain('is there already')
  }
  expect(Object.keys(await tree())).toEqual([
    'clusters/one/shop-staging.yaml',
    'clusters/one/theirs.yaml',
    'shop-staging.yaml',
  ])
})

test('gitops init lists its file in a kustomization and keeps the rest unchanged', async () => {
  const { init, tree, server } = await initialising()
  const text =
    '# What Flux applies here.\nkind: Kustomization\nresources: # in order\n- "base.yaml"\n\nnamespace: flux-system # ours\n'
  await commitDirectly(server.repository, {
    'clusters/one/kustomization.yml': text,
    'clusters/one/base.yaml': 'kind: A\n',
  })
  const into = ['--flux', '--into', 'clusters/one']
  expect((await init(...into, '--dry-run')).stdout).toContain('would be listed in: clusters/one/kustomization.yml\n')
  expect((await tree())['clusters/one/kustomization.yml']).toBe(text)
  expect((await init(...into)).stdout).toContain('\nlisted in: clusters/one/kustomization.yml\n')
  expect((await tree())['clusters/one/kustomization.yml']).toBe(
    text.replace('- "base.yaml"\n', '- "base.yaml"\n- shop-staging.yaml\n'),
  )
  expect((await init(...into)).stdout).toMatch(/^unchanged: /)
})

test('gitops init refuses a kustomization that cannot list the file, and commits nothing', async () => {
  const { init, log, server } = await initialising()
  const texts = [
    ['resources: [base.yaml\n', 'it is not valid YAML (line 2)'],
    ['x: &all [base.yaml]\nresources: *all\n', '`resources` is an alias, which stands for another place too'],
    ['resources: all\n', '`resources` must be a list'],
    ['- base.yaml\n', 'it must be a mapping'],
  ] as const
  for (const [text, why] of few(texts, 2)) {
    await commitDirectly(server.repository, { 'flux/kustomization.yaml': text })
    const before = await log()
    const { status, stderr } = await init('--flux')
    expect(status).toBe(1)
    expect(stderr).toContain(`\`flux/kustomization.yaml\` of the repository cannot list \`shop-staging.yaml\`: ${why}`)
    expect(await log()).toEqual(before)
  }
})

test('gitops init --url sets another address for the cluster', async () => {
  const { init, tree } = await initialising()
  await init('--argocd', '--url', 'git@git.example.com:team/deploy.git')
  expect(documents((await tree())[FILE]!)[0].spec.source.repoURL).toBe('ssh://git@git.example.com/team/deploy.git')
})

test('gitops init refuses an address that no cluster can reach', async () => {
  const { devctl, server } = await publishing()
  expect(await devctl('gitops', 'init', '--flux', '--environment', 'staging')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /is a path on this machine, which a controller cannot read\n {2}--> devctl.yml:6:17\n.*`--url`/,
    ),
  })
  expect(await git(server.repository, 'for-each-ref')).toBe('')
})

test('gitops init refuses a symbolic link and a file in place of its folder', async () => {
  const { init, server } = await initialising()
  await commitDirectly(server.repository, { flux: 'a file\n' }, { links: { argocd: '/tmp' } })
  expect(await init('--flux')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/`flux` in the repository is a file, not a folder\n.*`--into`/),
  })
  expect(await init('--argocd')).toMatchObject({ status: 1, stderr: expect.stringContaining('is a symbolic link') })
})

longTest('gitops init succeeds after a concurrent push and after a lost answer', async () => {
  const { init, tree, server, log } = await initialising()
  installHooks(server.repository, losesRace(1))
  expect((await init('--argocd')).status).toBe(0)
  installHooks(server.repository, hangsUpAfter(1))
  expect((await init('--flux')).status).toBe(0)
  expect(Object.keys(await tree())).toEqual(expect.arrayContaining([FILE, 'flux/shop-staging.yaml']))
  expect((await log()).filter(subject => subject.startsWith('gitops('))).toHaveLength(2)
})

longTest('gitops init with pull requests commits to a separate branch', async () => {
  const { init, tree, log, server, publish } = await initialising('    pullRequest: true\n')
  await commitDirectly(server.repository, { a: 'b\n' })
  const { status, stdout } = await init('--argocd')
  expect(status).toBe(0)
  expect(stdout).toContain('open a pull request from `devctl-argocd/staging/shop` to `main`')
  expect(stdout).toContain('gitops(shop/staging): let Argo CD sync environments/staging/shop')
  expect(stdout).toContain('kubectl apply')
  expect(Object.keys(await tree())).toEqual(['a'])
  expect(Object.keys(await tree('devctl-argocd/staging/shop'))).toEqual(['a', FILE])
  expect(await init('--argocd', '--pull-request')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(
      /^unchanged: `devctl-argocd\/staging\/shop` has argocd\/shop-staging\.yaml already\n/,
    ),
  })
  expect(await log('devctl-argocd/staging/shop')).toHaveLength(2)
  expect((await publish()).status).toBe(0)
})

test('gitops init --all updates nothing in its pull request, and keeps an edited file', async () => {
  const { devctl, server, log } = await initialising()
  await commitDirectly(server.repository, { a: 'b\n' })
  const words = ['--all', '--name', 'everything', '--repository', server.address, '--branch', 'main']
  const init = () => devctl('gitops', 'init', '--argocd', ...words, '--pull-request')
  expect((await init()).status).toBe(0)
  expect(await init()).toMatchObject({ status: 0, stdout: expect.stringMatching(/^unchanged: /) })
  const heads = await git(server.repository, 'for-each-ref', '--format=%(refname:short)', 'refs/heads')
  const branch = heads.split('\n').find(one => one !== 'main')!
  const clone = makeFolder()
  await git(clone, 'clone', '--quiet', '--branch', branch, server.repository, 'work')
  write(`${clone}/work`, { 'argocd/everything.yaml': 'theirs\n' })
  await git(`${clone}/work`, 'commit', '--quiet', '--all', '--amend', '--no-edit')
  await git(`${clone}/work`, 'push', '--quiet', '--force', 'origin', `HEAD:${branch}`)
  const theirs = await git(server.repository, 'rev-parse', branch)
  const { status, stderr } = await init()
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('argocd/everything.yaml') })
  expect(stderr).not.toContain('--take-over')
  expect(await git(server.repository, 'rev-parse', branch)).toBe(theirs)
  expect(await log(branch)).toHaveLength(2)
})

test('gitops init suggests a pull request if the branch is protected', async () => {
  const { init, server } = await initialising()
  installHooks(server.repository, declines('only by review'))
  const { status, stderr } = await init('--argocd')
  expect(status).toBe(1)
  expect(stderr).toContain('only by review')
  expect(stderr).toMatch(/= help: .*`--pull-request`/)
})

longTest('gitops init sets fields of Argo CD and Flux objects from its options', async () => {
  const { init } = await initialising()
  const argocd = await init('--argocd', '--print', '--project', 'shops', '--destination', 'eu-1', '--no-finalizer')
  expect(documents(argocd.stdout)).toMatchObject([{ spec: { project: 'shops', destination: { name: 'eu-1' } } }])
  expect(documents(argocd.stdout)[0].metadata.finalizers).toBeUndefined()
  const words = ['--service-account', 'deployer', '--decryption-secret', 'sops-age', '--interval', '1h']
  const flux = await init('--flux', '--print', '--controller-namespace', 'tenants', ...words)
  expect(documents(flux.stdout)).toMatchObject([
    { metadata: { namespace: 'tenants' }, spec: { interval: '1m' } },
    { spec: { serviceAccountName: 'deployer', interval: '1h', decryption: { secretRef: { name: 'sops-age' } } } },
  ])
})

test('gitops init configures SOPS decryption for Flux, and warns for Argo CD', async () => {
  const { init } = await initialising('    secrets: {backend: sops}\n')
  const keys = async (...words: readonly string[]) =>
    documents((await init('--flux', '--print', ...words)).stdout)[1].spec.decryption
  expect(await keys()).toEqual({ provider: 'sops', secretRef: { name: 'sops-age' } })
  expect(await keys('--decryption-secret', 'ours')).toEqual({ provider: 'sops', secretRef: { name: 'ours' } })
  const flux = await init('--flux', '--controller-namespace', 'tenants')
  expect(flux.stdout).toContain(
    '`kubectl create secret generic sops-age --namespace=tenants --from-file=age.agekey=KEY_FILE`',
  )
  for (const words of [[], ['--all']])
    expect(await init('--argocd', '--print', ...words)).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('warning: Argo CD does not decrypt'),
    })
})

test('gitops init --all commits one ApplicationSet for all folders', async () => {
  const { init, devctl, tree, log, server } = await initialising()
  const { status, stdout } = await init('--argocd', '--all')
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^added: argocd\/[a-z0-9-]+-staging\.yaml \(main [0-9a-f]{7}\)\n/),
  })
  const [file] = Object.keys(await tree())
  expect(stdout).toContain(`\`kubectl apply -f ${file}\``)
  expect(documents((await tree())[file!]!)).toMatchObject([
    { kind: 'ApplicationSet', spec: { generators: [{ git: { repoURL: server.address, revision: 'main' } }] } },
  ])
  expect(await log()).toEqual(['gitops(staging): let Argo CD sync every published folder'])
  const words = ['--all', '--print', '--name', 'everything', '--repository', server.address, '--branch', 'main']
  const all = await devctl('gitops', 'init', '--argocd', ...words)
  expect(documents(all.stdout)).toMatchObject([{ metadata: { name: 'everything' } }])
  expect(documents(all.stdout)[0].spec.generators[0].selector.matchLabels).toBeUndefined()
})

test.each<[readonly string[], string]>([
  [[], 'which controller?'],
  [['--flux', '--all'], '`--all` is for `--argocd`'],
  [['--argocd', '--all', '--namespace', 'x'], '`--namespace` cannot be combined with `--all`'],
  [['--flux', '--no-finalizer'], '`--no-finalizer` is for `--argocd`'],
  [['--argocd', '--service-account', 'x'], '`--service-account` is for `--flux`'],
  [['--flux', '--interval', '10'], 'not a valid duration'],
  [['--flux', '--retry-interval', '0s'], 'more than 0'],
  [['--argocd', '--flux'], 'which controller?'],
  [['--argocd', '--into', '../x'], 'not a folder in a repository'],
])('gitops init refuses the options %j', async (words, message) => {
  const { init } = await initialising()
  expect(await init(...words)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) })
})

test('gitops init neither commits nor prints secrets', async () => {
  const path = '    path: deploy/${SYNC_TOKEN}'
  const own = await initialising(path)
  write(own.source, { '.env': 'SYNC_TOKEN=hunter2-tok4711\n' })
  const texts: string[] = []
  for (const words of [['--argocd'], ['--flux', '--print'], ['--argocd', '--all', '--path', 'x/hunter2-tok4711']]) {
    const { status, stdout, stderr } = await own.init(...words)
    expect({ words, status }).toEqual({ words, status: 1 })
    texts.push(stdout, stderr)
  }
  expect(texts.join('')).toContain('--> devctl.yml:8:11')
  write(own.source, { 'devctl.yml': manifestFor(own.server.address) })
  for (const word of ['--into', '--url']) {
    const value = word === '--url' ? 'https://git.example.com/hunter2-tok4711' : 'a/hunter2-tok4711'
    const { status, stdout, stderr } = await own.init('--argocd', word, value)
    expect({ word, status, stdout }).toEqual({ word, status: 1, stdout: '' })
    expect(stderr).toContain('the manifests contain secrets; nothing was written')
    texts.push(stderr)
  }
  expect(leakIn(`${texts.join('')}${await everythingIn(own.server.repository)}`, ['hunter2-tok4711'])).toBeUndefined()
})

test.each([
  ['/nowhere/deploy.git', 'does not exist'],
  ['ext::touch x', 'is not a repository URL'],
  ['https://git.example.com/a b.git', 'is not a repository URL'],
  ['HTTPS://git.example.com/deploy.git', 'has capital letters'],
  ['.', 'is in the folder of the source'],
  ['git://git.example.com/deploy.git', 'controllers do not read'],
])('gitops init refuses the repository %j of the manifest and reports its position', async (repository, message) => {
  const { source, init } = await initialising()
  write(source, { 'devctl.yml': manifestFor(repository) })
  const { status, stderr } = await init('--argocd')
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) })
  expect(stderr).toContain('\n  --> devctl.yml:6:17\n')
})

longTest('gitops init needs only the Compose variables of the project name', async () => {
  const { source, server, init, tree } = await initialising()
  const compose =
    'services:\n  web: {image: "nginx:${TAG:?}", environment: {PASSWORD: "${PW:?}"}, ports: ["${PORT:?}"]}\n'
  write(source, { 'compose.yaml': compose })
  expect(await init('--argocd')).toMatchObject({ status: 0 })
  expect(Object.keys(await tree())).toEqual([FILE])
  const manifest = manifestFor(server.address).replace('name: shop\n', '')
  write(source, { 'compose.yaml': `name: \${APP:?}\n${compose}`, 'devctl.yml': manifest })
  expect(await init('--argocd')).toMatchObject({ status: 1, stderr: expect.stringContaining('`APP` is required') })
})

test('gitops init reports a missing repository, folder and namespace', async () => {
  const { devctl, server } = await publishing()
  const words = ['gitops', 'init', '--argocd', '-f', 'compose.yaml']
  const url = ['--url', 'https://git.example.com/deploy.git']
  expect(await devctl(...words)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('repository is not known'),
  })
  const more = [...words, ...url, '--repository', server.address]
  expect(await devctl(...more)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('folder in the repository'),
  })
  expect(await devctl(...more, '--path', 'shop')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('namespace of the environment is not known'),
  })
  expect(await devctl('gitops')).toMatchObject({ status: 2, stderr: expect.stringContaining('gitops init --help') })
})
