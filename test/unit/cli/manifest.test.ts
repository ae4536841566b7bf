import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { LoadingValues } from '../../../cli/options/project.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { compileFiles } from '../../../project/compile-files.ts'
import { chooseTarget } from '../../../project/contexts/target.ts'
import { openProject, targetOf } from '../../../project/open-project.ts'
import { run } from '../../support/run.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-manifest-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

let made = 0
/** Creates a folder with files in it. */
function folder(files: Readonly<Record<string, string>>): string {
  const at = join(work, `project-${made++}`)
  mkdirSync(at)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return at
}

function ioOf(cwd: string, env: Io['env'] = {}, stdin = ''): Io {
  const output = { isTTY: false, write: () => {} }
  return { stdout: output, stderr: output, readStdin: async () => new TextEncoder().encode(stdin), env, cwd }
}

const loading = (values: Partial<LoadingValues> = {}): LoadingValues => ({
  file: undefined,
  projectDirectory: undefined,
  envFile: undefined,
  profile: undefined,
  allowOutside: false,
  environment: undefined,
  ...values,
})

const compose = 'services:\n  web:\n    image: nginx\n'
const commandsOf = async (cwd: string) =>
  (await openProject(ioOf(cwd), loading())).manifest?.deploy?.commands.map(({ command }) => command)

describe('the manifest that is used', () => {
  test.each(['devctl.yml', 'devctl.yaml', '.devctl/devctl.yml', '.devctl/devctl.yaml'])(
    'the manifest %s is found',
    async name => {
      const cwd = folder({ [name]: 'deploy: [echo]\n', 'compose.yaml': compose })
      const { manifest } = await openProject(ioOf(cwd), loading())
      expect(manifest).toMatchObject({ path: join(cwd, name), shown: name, folder: cwd })
    },
  )

  test('a manifest in a folder above is used, unless a Compose file is nearer', async () => {
    const cwd = folder({ 'devctl.yml': 'name: up\n', 'a/b/x': '', 'c/compose.yaml': compose, 'c/d/x': '' })
    expect((await openProject(ioOf(join(cwd, 'a/b')), loading())).manifest?.name?.value).toBe('up')
    expect((await openProject(ioOf(join(cwd, 'c/d')), loading())).manifest).toBeUndefined()
  })

  test('`-f` recognizes a manifest by its content', async () => {
    const cwd = folder({ 'a.yaml': 'deploy: [echo]\n', 'b.yaml': compose, 'devctl.yml': 'name: not me\n' })
    expect((await openProject(ioOf(cwd), loading({ file: ['a.yaml'] }))).manifest?.shown).toBe('a.yaml')
    expect((await openProject(ioOf(cwd), loading({ file: ['b.yaml'] }))).manifest).toBeUndefined()
    const both = await run(['render', '-f', 'b.yaml', '-f', 'a.yaml'], { cwd })
    expect(both.status).toBe(2)
    expect(both.stderr).toContain('`a.yaml` is a manifest, which cannot be combined with other files')
  })

  test('`-f -` reads a manifest or a Compose file', async () => {
    const cwd = folder({ 'compose.yaml': compose })
    const manifest = await run(['render', '-f', '-'], { cwd, stdin: 'name: from-stdin\nnamespace: shop\n' })
    expect(manifest.stdout).toContain('dev.platform/environment: from-stdin')
    const file = await run(['render', '-f', '-', '--name', 'app'], { cwd, stdin: compose })
    expect(file).toMatchObject({ status: 0 })
    const wrong = await run(['validate', '-f', '-'], { cwd, stdin: 'deploi: {}\n' })
    expect(wrong.stderr).toContain('standard input:1:1')
  })

  test('paths and variables of a manifest belong to its folder', async () => {
    const cwd = folder({
      '.devctl/devctl.yml': 'name: ${NAME}\ndeploy: {compose: app/compose.yaml}\n',
      '.env': 'NAME=shop\n',
      'app/compose.yaml': compose,
      'other/x': '',
    })
    const { status, stdout } = await run(['render'], { cwd: join(cwd, 'other') })
    expect(status).toBe(0)
    expect(stdout).toContain('dev.platform/environment: shop')
  })
})

describe('the automatic rules', () => {
  test.each(['chart', 'charts', 'helm/chart', 'helm/charts'])(
    'a Helm chart in %s is installed with the built images',
    async path => {
      const values = 'api: {image: x}\nweb-app: {image: {repository: y}}\nreplicas: 1\n'
      const cwd = folder({ [`${path}/Chart.yaml`]: 'name: x\n', [`${path}/values.yaml`]: values, 'k8s/a.yaml': '' })
      expect(await commandsOf(cwd)).toEqual([
        `helm upgrade --install "$DEVCTL_NAME" ${path}` +
          ' ${DEVCTL_BUILD_API_IMAGE:+--set api.image="$DEVCTL_BUILD_API_IMAGE"}' +
          ' ${DEVCTL_BUILD_WEB_APP_IMAGE:+--set web-app.image="$DEVCTL_BUILD_WEB_APP_IMAGE"}',
      ])
    },
  )

  test('the command that installs a chart is shown without the images', async () => {
    const cwd = folder({ 'chart/Chart.yaml': 'name: x\n', 'chart/values.yaml': 'api: {image: x}\n' })
    const { manifest } = await openProject(ioOf(cwd), loading())
    expect(manifest?.deploy?.commands.map(({ name }) => name)).toEqual(['helm upgrade --install "$DEVCTL_NAME" chart'])
  })

  test.each([
    ['manifests/a.yaml', 'kubectl apply -f manifests'],
    ['kubernetes.yml', 'kubectl apply -f kubernetes.yml'],
    ['k8s/kustomization.yaml', 'kubectl apply -k k8s'],
  ])('plain manifests in %s are applied', async (path, command) => {
    expect(await commandsOf(folder({ [path]: '' }))).toEqual([command])
  })

  test('a Compose file, also in a folder above, and COMPOSE_FILE take precedence', async () => {
    const cwd = folder({
      'compose.yaml': compose,
      'a/k8s/x.yaml': '',
      'b/k8s/x.yaml': '',
      'b/.env': 'COMPOSE_FILE=x\n',
    })
    expect(await commandsOf(join(cwd, 'a'))).toBeUndefined()
    const alone = folder({ 'k8s/x.yaml': '' })
    expect((await openProject(ioOf(alone, { COMPOSE_FILE: 'x' }), loading())).manifest).toBeUndefined()
  })

  test('the first of several charts is used, with a warning', async () => {
    const cwd = folder({ 'chart/Chart.yaml': '', 'charts/Chart.yaml': '' })
    const { diagnostics } = await openProject(ioOf(cwd), loading())
    expect(diagnostics.map(({ message }) => message)).toEqual(['`chart` is used; `charts` is ignored'])
  })

  test('render reports that there is no Compose file, and validate finds no errors', async () => {
    const cwd = folder({ 'k8s/x.yaml': '' })
    const rendered = await run(['render'], { cwd })
    expect(rendered).toMatchObject({ status: 1, stdout: '' })
    expect(rendered.stderr).toContain('there is no Compose file to render: `k8s` is deployed as it is')
    expect(await run(['validate'], { cwd })).toMatchObject({ status: 0, stderr: 'no errors in k8s\n' })
    expect((await run(['config'], { cwd })).status).toBe(1)
  })
})

describe('a manifest without a Compose file', () => {
  test('a manifest without a Compose file has an empty plan with its name', async () => {
    const cwd = folder({ 'devctl.yml': 'name: Shop 1\ndeploy: [./up.sh]\n', 'compose.yaml': compose })
    const { plan, hasNoCompose, manifest } = await compileFiles(ioOf(cwd), [], loading())
    expect({ name: plan?.environment.name, services: plan?.serviceCount, hasNoCompose }).toEqual({
      name: 'shop-1',
      services: 0,
      hasNoCompose: true,
    })
    expect(manifest?.deploy?.commands).toMatchObject([{ name: './up.sh', command: './up.sh' }])
  })

  test('a manifest takes no Compose file from a folder above', async () => {
    const cwd = folder({ 'compose.yaml': compose, 'a/devctl.yml': 'dependencies: [a]\n' })
    expect((await compileFiles(ioOf(join(cwd, 'a')), [], loading())).hasNoCompose).toBe(true)
  })
})

describe('the environment', () => {
  const files = {
    'devctl.yml':
      'name: shop\nnamespace: own\ncontext: own\nenvironments:\n  staging: {namespace: st, context: kind}\n  plain:\n',
    'compose.yaml': compose,
  }

  test('an unknown environment is a mistake on the command line', async () => {
    const cwd = folder(files)
    const near = await run(['render', '--environment', 'stagin'], { cwd })
    expect(near).toMatchObject({ status: 2, stdout: '' })
    expect(near.stderr).toBe(
      'error: environment `stagin` does not exist in `devctl.yml`\n  = help: did you mean `staging`?\n',
    )
    const far = await run(['config', '--environment', 'x'], { cwd })
    expect(far.stderr).toContain('the environments are `staging`, `plain`')
    const none = await run(['validate', '--environment', 'x'], { cwd: folder({ 'compose.yaml': compose }) })
    expect(none).toMatchObject({ status: 2 })
    expect(none.stderr).toContain('` needs a manifest that has `environments`')
  })

  test('an environment may be of a manifest beside the Compose files of `-f`', async () => {
    const cwd = folder({ ...files, 'other.yaml': compose })
    const { status, stdout } = await run(['render', '-f', 'other.yaml', '--environment', 'staging', '--name', 'a'], {
      cwd,
    })
    expect(status).toBe(0)
    expect(stdout).toContain('namespace: st\n')
  })

  test.each([
    [{}, undefined, {}, 'own', 'own'],
    [{ DEVCTL_NAMESPACE: 'var', DEVCTL_CONTEXT: 'var' }, undefined, {}, 'var', 'var'],
    [{ DEVCTL_NAMESPACE: 'var', DEVCTL_CONTEXT: 'var' }, 'staging', {}, 'kind', 'st'],
    [{ DEVCTL_NAMESPACE: 'var' }, 'plain', {}, 'own', 'var'],
    [{ DEVCTL_NAMESPACE: 'var' }, 'staging', { context: 'opt', namespace: 'opt' }, 'opt', 'opt'],
  ])(
    'options count more than environment, variables and manifest, in this order: %j %s %j',
    async (env, environment, options, context, namespace) => {
      const io = ioOf(folder(files), env)
      const project = await openProject(io, loading({ environment }))
      const { manifest, ...wish } = targetOf(project, { context: undefined, namespace: undefined, ...options })
      const stored = { current: undefined, contexts: new Map() }
      const contexts = new Map([context].map(name => [name, { path: 'config' }]))
      const kubeconfig = { paths: [], current: undefined, contexts }
      expect(chooseTarget({ options: wish, env, manifest, stored, kubeconfig })).toMatchObject({ context, namespace })
      const { plan } = await compileFiles(io, [], loading({ environment }), options)
      expect(plan?.environment.namespace).toBe(namespace)
    },
  )

  test('an environment sets variables below the shell and above `.env`', async () => {
    const cwd = folder({
      'devctl.yml': 'environments: {a: {variables: {ONE: env, TWO: env}}}\n',
      'compose.yaml': 'services: {web: {image: "x:${ONE}-${TWO}-${THREE}"}}\n',
      '.env': 'TWO=file\nTHREE=$ONE\n',
    })
    const { stdout } = await run(['config', '--environment', 'a', '--images'], { cwd, env: { ONE: 'shell' } })
    expect(stdout).toBe('x:shell-env-shell\n')
    const { stdout: places } = await run(['config', '--environment', 'a', '--provenance'], { cwd })
    expect(places).toContain('TWO from devctl.yml:1')
  })
})
