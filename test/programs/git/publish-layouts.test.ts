import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import { buildFolder } from '../../../gitops/repository/layout/build.ts'
import { parseLock } from '../../../project/lock.ts'
import { read } from '../../support/cli/folder.ts'
import { git } from '../../support/git/git.ts'
import { COMPOSE, leftIn, type Publishing, publishing } from '../../support/git/publishing.ts'
import { commitDirectly } from '../../support/git/repository.ts'
import type { Result } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { expectFile } from '../../support/written-file.ts'

type Tree = Readonly<Record<string, string>>

interface Layouts {
  readonly staging?: string
  readonly production?: string
  /** Additional lines of both environments, indented by four spaces. */
  readonly more?: string
}

interface Environments extends Publishing {
  to(environment: string, ...words: readonly string[]): Promise<Result>
  /** Commits other layouts in the manifest. */
  lay(layouts: Layouts): Promise<void>
}

const APP = `${COMPOSE}    environment: {LEVEL: "\${LEVEL:-info}"}\n`

/** Creates an application with two environments. */
async function environments(
  layouts: Layouts = { staging: 'kustomize', production: 'kustomize' },
): Promise<Environments> {
  const own = await publishing({ compose: APP, manifest: address => manifest(address, layouts) })
  const lay = async (said: Layouts) => {
    await own.change({ 'devctl.yml': manifest(own.server.address, said) })
  }
  return { ...own, lay, to: (name, ...words) => own.devctl('publish', '--environment', name, ...words) }
}

function manifest(repository: string, { staging = 'plain', production = 'plain', more = '' }: Layouts): string {
  const environment = (name: string, layout: string, domain: string, level: string) => `  ${name}:
    namespace: shop-${name}
    domain: ${domain}
    repository: ${repository}
    branch: main
    layout: ${layout}
    variables: {LEVEL: ${level}}
${more}`
  const both = [
    environment('staging', staging, 'staging.example.com', 'debug'),
    environment('production', production, 'example.com', 'warn'),
  ]
  return `name: shop\nenvironments:\n${both.join('')}`
}

const STAGING = 'environments/staging/shop'
const PRODUCTION = 'environments/production/shop'
const SHARED = 'apps/shop'

/** Builds a folder of a tree; returns its objects by kind and name. Throws if the folder does not build. */
async function build(tree: Tree, folder: string): Promise<Readonly<Record<string, KubernetesObject>>> {
  const built = await buildFolder(folder, path => tree[path])
  if (!built) throw new Error(`${folder} does not build`)
  return Object.fromEntries(built.map(object => [`${object.kind}/${object.metadata.name}`, object]))
}

const below = (tree: Tree, folder: string): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([path]) => path.startsWith(`${folder}/`)))

const bases = (tree: Tree): readonly string[] => [
  ...new Set(Object.keys(below(tree, SHARED)).flatMap(path => /\/(base-\w+)\//.exec(path)?.[1] ?? [])),
]

const usesOf = (tree: Tree) => parseLock(tree[`${SHARED}/.devctl.lock`]!, 'lock').uses

const webImage = (objects: Readonly<Record<string, KubernetesObject>>) =>
  /"image":"(nginx[^"]*)"/.exec(JSON.stringify(objects['Deployment/web']))?.[1]

/** Removes a folder from the repository, as a user would by hand. */
async function removeFolder({ server, tree }: Publishing, folder: string): Promise<void> {
  const paths = Object.keys(below(await tree(), folder))
  await commitDirectly(server.repository, Object.fromEntries(paths.map(path => [path, undefined])))
}

describe('two environments with overlays', () => {
  test('overlays share their base and build to the same objects as plain manifests', async () => {
    const { to, tree, devctl, source, log, change, temporary } = await environments()
    expect((await to('staging')).stdout).toBe('deploy(shop/staging): 5 objects added\n')
    expect((await to('production')).stdout).toBe('deploy(shop/production): 5 objects added\n')
    const files = await tree()
    expect(bases(files)).toHaveLength(1)
    const [base] = bases(files)
    expect(usesOf(files)).toEqual({ [STAGING]: base, [PRODUCTION]: base })
    const [staging, production] = [await build(files, STAGING), await build(files, PRODUCTION)]
    expect(Object.keys(staging)).toEqual(Object.keys(production))
    expect(staging['Service/web']!.metadata.namespace).toBe('shop-staging')
    expect(JSON.stringify(staging['Deployment/cache'])).toContain('"value":"debug"')
    expect(JSON.stringify(production['Deployment/cache'])).toContain('"value":"warn"')
    expect(leftIn(temporary)).toEqual([])
    const shown = Object.entries(files).filter(([path]) => !path.endsWith('.devctl.lock'))
    const whole = shown.map(([path, text]) => `──── ${path}\n${text}`).join('\n')
    await expectFile(whole, join(import.meta.dirname, 'overlays.txt'))
    for (const [name, built] of Object.entries({ staging, production })) {
      // Renders plain manifests if no layout is set.
      expect((await devctl('render', '--environment', name, '--output-dir', `../plain-${name}`)).status).toBe(0)
      expect(await build(read(join(source, `../plain-${name}`)), '.')).toEqual(built)
    }

    // Nothing is committed where nothing differs.
    await change({ 'README.md': 'about\n' })
    expect((await to('staging')).stdout).toMatch(/^unchanged: /)
    expect((await to('production')).stdout).toMatch(/^unchanged: /)
    expect((await to('production', '--verify')).status).toBe(0)
    expect(await log()).toHaveLength(2)
  })

  test('a newer source or another layout of one environment leaves the other unchanged', async () => {
    const { to, lay, tree, change } = await environments()
    await to('staging')
    await to('production')
    const before = await tree()
    await change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.28') })
    expect((await to('staging')).stdout).toBe('deploy(shop/staging): web 1.27 → 1.28\n')
    const after = await tree()
    expect(bases(after)).toHaveLength(2)
    expect(below(after, PRODUCTION)).toEqual(below(before, PRODUCTION))
    expect(await build(after, PRODUCTION)).toEqual(await build(before, PRODUCTION))
    expect(webImage(await build(after, STAGING))).toBe('nginx:1.28')
    // A publish of the other environment deletes the older base.
    expect((await to('production')).stdout).toBe('deploy(shop/production): web 1.27 → 1.28\n')
    const both = await tree()
    expect(bases(both)).toHaveLength(1)
    expect(webImage(await build(both, PRODUCTION))).toBe('nginx:1.28')

    await lay({ staging: 'plain', production: 'kustomize' })
    await to('staging')
    const left = await tree()
    expect(await build(left, PRODUCTION)).toEqual(await build(both, PRODUCTION))
    expect(Object.keys(usesOf(left)!)).toEqual([PRODUCTION])
  })

  longTest('publish deletes a base once the folder of its environment was removed', async () => {
    const own = await environments()
    await own.to('staging')
    await own.change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.28') })
    await own.to('production')
    expect(bases(await own.tree())).toHaveLength(2)
    await removeFolder(own, STAGING)
    await own.change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.29') })
    await own.to('production')
    const files = await own.tree()
    expect(bases(files)).toHaveLength(1)
    expect(Object.keys(usesOf(files)!)).toEqual([PRODUCTION])
  })

  longTest('publish adds an environment to the users of its base if nothing else differs', async () => {
    const own = await environments()
    await own.to('staging')
    await own.to('production')
    const path = `${SHARED}/.devctl.lock`
    const { uses, ...lock } = JSON.parse((await own.tree())[path]!)
    const only = { ...lock, uses: { [STAGING]: uses[STAGING] } }
    await commitDirectly(own.server.repository, { [path]: `${JSON.stringify(only, undefined, 2)}\n` })
    expect((await own.to('production')).stdout).toBe('deploy(shop/production): no object changed\n')
    expect(usesOf(await own.tree())).toEqual(uses)
  })

  longTest('publish keeps the base of an environment with a damaged lock', async () => {
    const own = await environments()
    await own.to('staging')
    await commitDirectly(own.server.repository, { [`${STAGING}/.devctl.lock`]: '}' })
    await own.change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.28') })
    expect((await own.to('production')).status).toBe(0)
    expect(bases(await own.tree())).toHaveLength(2)
  })

  longTest('concurrent publishes of two environments both succeed', async () => {
    const { to, tree, change, server } = await environments()
    for (const version of few(['1.27', '1.28', '1.29'], 2)) {
      await change({ 'compose.yaml': APP.replace('nginx:1.27', `nginx:${version}`) })
      const results = await Promise.all([to('staging'), to('production')])
      expect(results.map(({ status, stderr }) => (status === 0 ? 0 : stderr))).toEqual([0, 0])
      const files = await tree()
      expect(bases(files)).toHaveLength(1)
      for (const folder of [STAGING, PRODUCTION]) expect(webImage(await build(files, folder))).toBe(`nginx:${version}`)
    }
    expect(await git(server.repository, 'rev-list', '--merges', '--count', 'main')).toBe('0')
  })

  longTest('a pull request contains the base', async () => {
    const { to, tree } = await environments()
    await to('production')
    expect((await to('staging', '--pull-request')).status).toBe(0)
    expect(Object.keys(usesOf(await tree())!)).toEqual([PRODUCTION])
    const requested = await tree('devctl/staging/shop')
    expect(Object.keys(usesOf(requested)!)).toEqual([PRODUCTION, STAGING])
    expect(Object.keys(await build(requested, STAGING))).toHaveLength(5)
    expect((await to('staging', '--pull-request')).stdout).toMatch(/^unchanged: /)
  })
})

describe('the folder of the bases', () => {
  longTest('publish refuses an edited base until --take-over, and keeps files of other users', async () => {
    const { to, tree, server, change } = await environments()
    await to('staging')
    const before = await tree()
    const path = `${SHARED}/${bases(before)[0]}/web/deployment-web.yaml`
    await commitDirectly(server.repository, { [path]: before[path]!.replace('nginx:1.27', 'nginx:9') })
    await change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.28') })
    const { status, stderr } = await to('staging')
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('was edited by hand') })
    expect(stderr).toContain(`${bases(before)[0]}/web/deployment-web.yaml`)
    expect((await to('staging', '--take-over')).stdout).toBe('deploy(shop/staging): web 9 → 1.28\n')
    expect(bases(await tree())).toHaveLength(1)

    await commitDirectly(server.repository, { [`${SHARED}/notes.md`]: 'theirs\n' })
    await change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.29') })
    expect((await to('staging')).stdout).toBe('deploy(shop/staging): web 1.28 → 1.29\n')
    expect((await tree())[`${SHARED}/notes.md`]).toBe('theirs\n')
  })

  test('publish refuses a folder that is both for bases and for an environment', async () => {
    const { to, log } = await environments({ staging: 'kustomize' })
    expect(await to('staging', '--path', SHARED)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is the folder for the bases of overlays'),
    })
    expect((await to('production', '--path', SHARED)).status).toBe(0)
    expect(await to('staging')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('contains manifests of'),
    })
    expect(await log()).toHaveLength(1)
  })

  longTest('plain manifests cannot take over the folder of the bases', async () => {
    const { to } = await environments({ staging: 'kustomize' })
    await to('staging')
    expect(await to('production', '--path', SHARED, '--take-over')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is the folder for the bases of overlays'),
    })
  })

  longTest('the folder of the bases can contain environments', async () => {
    const { to, tree } = await environments()
    await to('staging', '--path', `${SHARED}/staging`)
    await to('production', '--path', `${SHARED}/production`)
    const files = await tree()
    for (const name of ['staging', 'production'])
      expect((await build(files, `${SHARED}/${name}`))['Service/web']!.metadata.namespace).toBe(`shop-${name}`)
  })
})

describe('the path of an environment', () => {
  test.each(few(['.', 'with blank/x', 'a/b/c/d/e/f', 'x', 'apps']))('the path %s works in any layout', async path => {
    const { to, tree } = await environments({ staging: 'kustomize' })
    expect((await to('staging', '--path', path)).status).toBe(0)
    const overlay = await build(await tree(), path)
    expect(Object.keys(overlay)).toHaveLength(5)
    for (const layout of few(['single-file', 'plain'])) {
      expect((await to('staging', '--path', path, '--layout', layout)).status).toBe(0)
      expect(await build(await tree(), path)).toEqual(overlay)
      expect(bases(await tree())).toEqual([])
    }
  })
})

describe('a change of the layout', () => {
  const PLAIN = [
    '.devctl.lock',
    'README.md',
    'cache/deployment-cache.yaml',
    'cache/service-cache.yaml',
    'kustomization.yaml',
    'web/deployment-web.yaml',
    'web/ingress-web.yaml',
    'web/service-web.yaml',
  ]
  const inFolder = (folder: string, files: readonly string[]) => files.map(file => posix.join(folder, file))

  test('publish in another layout leaves only its own files, with the same objects', async () => {
    const { to, lay, tree } = await environments({})
    await to('staging')
    const objects = await build(await tree(), STAGING)
    expect(Object.keys(await tree())).toEqual(inFolder(STAGING, PLAIN))

    await lay({ staging: 'kustomize' })
    expect((await to('staging')).stdout).toBe('deploy(shop/staging): no object changed\n')
    const overlay = await tree()
    const [base] = bases(overlay)
    expect(Object.keys(overlay)).toEqual([
      ...inFolder(SHARED, ['.devctl.lock', ...PLAIN.slice(2).map(file => `${base}/${file}`)]),
      ...inFolder(STAGING, [
        '.devctl.lock',
        'README.md',
        '_patches/deployment-cache.yaml',
        '_patches/ingress-web.yaml',
        'kustomization.yaml',
      ]),
    ])
    expect(await build(overlay, STAGING)).toEqual(objects)

    await lay({ staging: 'single-file' })
    expect((await to('staging')).stdout).toBe('deploy(shop/staging): no object changed\n')
    const single = await tree()
    expect(Object.keys(single)).toEqual(
      inFolder(STAGING, ['.devctl.lock', 'README.md', 'kustomization.yaml', 'manifests.yaml']),
    )
    expect(await build(single, STAGING)).toEqual(objects)

    await lay({})
    await to('staging')
    expect(Object.keys(await tree())).toEqual(inFolder(STAGING, PLAIN))
  })

  longTest('publish in another layout reports a change of the source', async () => {
    const { to, lay, change, devctl } = await environments()
    await to('staging')
    await change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.28') })
    await lay({ staging: 'single-file' })
    const { stdout } = await devctl('publish', '--environment', 'staging', '--dry-run')
    expect(stdout).toMatch(/^ ~ deployment\/web .*\n.*image\n\s+- nginx:1\.27\n\s+\+ nginx:1\.28\n$/)
    expect((await to('staging')).stdout).toBe('deploy(shop/staging): web 1.27 → 1.28\n')
  })
})

longTest('publish counts files if it cannot read the objects', async () => {
  const { to, tree, server, change } = await environments()
  await to('staging')
  const path = `${STAGING}/kustomization.yaml`
  await commitDirectly(server.repository, { [path]: `${(await tree())[path]}namePrefix: mine-\n` })
  await change({ 'compose.yaml': APP.replace('nginx:1.27', 'nginx:1.28') })
  const planned = JSON.parse((await to('staging', '--take-over', '--dry-run', '--output', 'json')).stdout)
  expect(planned.objects).toBeUndefined()
  expect(planned.files).toContainEqual({ path, why: 'was edited by hand' })
  expect((await to('staging', '--take-over')).stdout).toMatch(
    /^deploy\(shop\/staging\): \d+ files? changed, \d+ added, \d+ removed\n$/,
  )
  expect(Object.keys(await build(await tree(), STAGING))).toHaveLength(5)
})

describe('files of render and publish', () => {
  const withoutLocks = (files: Tree) =>
    Object.fromEntries(Object.entries(files).filter(([path]) => !path.endsWith('.devctl.lock')))

  test.each(few(['plain', 'single-file']))('render writes the same files as publish in the layout %s', async layout => {
    const { to, devctl, tree, source } = await environments({ staging: layout })
    await to('staging')
    await devctl('render', '--environment', 'staging', '--output-dir', '../rendered')
    const published = Object.entries(below(await tree(), STAGING)).map(([path, text]) => [
      path.slice(STAGING.length + 1),
      text,
    ])
    expect(withoutLocks(read(join(source, '../rendered')))).toEqual(withoutLocks(Object.fromEntries(published)))
  })

  longTest('render writes the same overlays as publish', async () => {
    const { to, devctl, tree, source } = await environments()
    for (const name of ['staging', 'production']) {
      await to(name)
      await devctl('render', '--environment', name, '--layout', 'kustomize', '--output-dir', '../rendered')
    }
    const rendered = read(join(source, '../rendered'))
    expect(withoutLocks(rendered)).toEqual(withoutLocks(await tree()))
    expect(usesOf(rendered)).toEqual(usesOf(await tree()))
  })

  test.each(few(['kustomize', 'plain', 'single-file']))('a second render changes no file: %s', async layout => {
    const { devctl, source } = await environments()
    const words = ['render', '--environment', 'staging', '--layout', layout, '--output-dir', '../rendered']
    await devctl(...words)
    const before = read(join(source, '../rendered'))
    const { stderr } = await devctl(...words, '--loglevel', 'info')
    expect(stderr).toMatch(/ \(0 written, 0 removed, \d+ unchanged\)/)
    expect(read(join(source, '../rendered'))).toEqual(before)
  })

  test.each([
    [['--layout', 'plain'], '`--layout` writes several files'],
    [['--layout', 'plain', '--format', 'yaml', '--output-dir', 'x'], '`--layout` and `--output` cannot be combined'],
    [['--format', 'kustomize'], '`--output kustomize` writes several files'],
    [['--take-over'], 'no effect without `--output-dir`'],
    [['--layout', 'helm', '--output-dir', 'x'], '`--layout` is `helm`'],
  ])('render refuses the options %j', async (words, message) => {
    const { devctl } = await environments()
    expect(await devctl('render', ...words)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) })
  })
})
