import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../../../cli/commands.ts'
import { explainCode } from '../../../../cli/run/explain.ts'
import { root } from '../../../support/cases.ts'
import { makeFolder, read } from '../../../support/cli/folder.ts'
import { kubeconfigWith } from '../../../support/contexts/kubeconfig.ts'
import { run } from '../../../support/run.ts'

const PROJECT = {
  'compose.yaml': `include:
  - included/more.yaml
  - path: [included/list.yaml]
  - https://example.com/compose.yaml
  - included/missing.yaml
services:
  web: {image: "nginx:1", profiles: [front, all]}
  api: {build: ., extends: {service: web}}
  "bad name; rm -rf x": {image: a}
`,
  'compose.override.yaml': 'services: {mailer: {image: mail}, web: {ports: ["80"]}}\n',
  'included/more.yaml': 'include: [../compose.yaml]\nservices: {db: {image: "postgres:16", profiles: [data]}}\n',
  'included/list.yaml': 'services: {cache: {image: redis}}\n',
  'other.yaml': 'services: {other: {image: a, profiles: [own]}}\n',
  'staging.yaml': 'services: {debug: {image: a}}\n',
}
const MANIFEST = {
  'devctl.yml': `name: shop
deploy: {compose: [compose.yaml, {file: other.yaml, services: [other]}]}
dev: {backend: {image: a}}
environments:
  staging: {compose: staging.yaml, context: prod, namespace: shop-staging}
  production: {}
`,
}

/** Returns the lines for fish: the kind and the candidates, without their descriptions. */
async function offered(line: string, cwd: string, env: Readonly<Record<string, string>> = {}) {
  const words = line.split(' ')
  const { status, stdout, stderr } = await run(['__complete', 'fish', ...words], { cwd, env: { HOME: cwd, ...env } })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const [kind, ...candidates] = stdout.split('\n').slice(0, -1)
  return { kind, values: candidates.map(one => one.replace(/\t.*/, '')) }
}
const values = async (...line: Parameters<typeof offered>) => (await offered(...line)).values

describe('commands and options', () => {
  const cwd = () => makeFolder({ 'my file': '' })

  test('the top-level commands are offered first, then subcommands', async () => {
    const names = commands.map(({ name }) => name).filter(name => !name.includes(' '))
    expect(await values('', cwd())).toEqual(names)
    expect(await values('context ', cwd())).toEqual(['use', 'show', 'list', 'delete'])
    expect(await values('context --namespace shop ', cwd())).toEqual(['use', 'show', 'list', 'delete'])
    expect(await values('help ', cwd())).toEqual(names)
    expect(await values('help context ', cwd())).toEqual(['use', 'show', 'list', 'delete'])
    expect(await values('nonsense ', cwd())).toEqual([])
    expect(await values('use ', cwd())).toEqual([])
  })

  const GLOBAL = ['--log-level', '--verbose', '--quiet']

  test('options are offered after a dash, or if nothing else can follow', async () => {
    expect(await values('-', cwd())).toEqual([...GLOBAL, '--version', '--help'])
    expect(await values('version ', cwd())).toEqual(['--output', ...GLOBAL, '--help'])
    expect(await values('version -', cwd())).toEqual(['--output', ...GLOBAL, '--help'])
    expect(await values('version x', cwd())).toEqual([])
    expect(await values('render -f', cwd())).toContain('-f')
    expect(await values('render -', cwd())).not.toContain('-f')
  })

  test('an option is offered once, unless it may be repeated', async () => {
    const all = await values('render -', cwd())
    expect(all).toEqual(expect.arrayContaining(['--name', '--file', '--image', '--strict']))
    const left = await values('render --name x -fa --image a=b --strict -n y -', cwd())
    expect(all.filter(one => !left.includes(one))).toEqual(['--name', '--namespace', '--strict'])
    expect(await values('build --push -', cwd())).not.toContain('--push')
    expect(await values('config -q -', cwd())).not.toContain('--quiet')
  })

  test('choices are offered in both forms of an option, and for arguments', async () => {
    expect(await values('render --output ', cwd())).toEqual(['yaml', 'json', 'kustomize'])
    expect(await values('render --output=', cwd())).toEqual(['--output=yaml', '--output=json', '--output=kustomize'])
    expect(await values('render --format ', cwd()), 'an older spelling').toEqual(['yaml', 'json', 'kustomize'])
    expect(await values('context list -o ', cwd())).toEqual(['text', 'wide', 'json', 'name'])
    expect(await values('--log-level ', cwd())).toEqual(['debug', 'info', 'warn', 'error'])
    expect(await values('deploy --log-level=', cwd())).toContain('--log-level=info')
    expect(await values('completion ', cwd())).toEqual(['bash', 'zsh', 'fish', 'powershell'])
    expect(await values('build --push ', cwd())).toEqual(['true', 'false'])
    expect(await values('render --strict=', cwd())).toEqual([])
    expect(await values('render --name ', cwd())).toEqual([])
    expect(await values('render --nmae=', cwd())).toEqual([])
  })

  test('the shell lists files and folders', async () => {
    expect((await offered('render -f x', cwd())).kind).toBe('files')
    expect(await offered('render --file=my', cwd())).toEqual({ kind: 'files', values: ['--file=', 'my'] })
    expect((await offered('render --project-directory ', cwd())).kind).toBe('folders')
  })

  test('the hidden command is neither in the help nor among the commands', async () => {
    const { stdout } = await run(['--help'], { cwd: cwd() })
    expect(stdout).not.toContain('__complete')
    expect(await values('__', cwd())).not.toContain('__complete')
  })
})

describe('names in files', () => {
  test('services are those of the Compose files, with included and override files', async () => {
    const cwd = makeFolder(PROJECT)
    const all = ['web', 'api', 'db', 'cache', 'mailer']
    expect((await values('deploy ', cwd)).sort()).toEqual(all.toSorted())
    expect((await values('deploy ', join(cwd, 'included'))).sort()).toEqual(all.toSorted())
    expect((await values('deploy web --wait api ', cwd)).sort()).toEqual(['cache', 'db', 'mailer'])
    expect((await values('deploy -- web ', cwd)).sort()).toEqual(['api', 'cache', 'db', 'mailer'])
    expect(await values('forward ', cwd)).toContain('api')
    expect(await values('forward web ', cwd)).toEqual([])
    expect(await values('deploy --rerun ', cwd)).toContain('api')
    expect(await offered('deploy --image ', cwd)).toMatchObject({
      kind: 'no-space',
      values: expect.arrayContaining(['api=']),
    })
    const { stdout } = await run(['__complete', 'fish', 'deploy', ''], { cwd, env: {} })
    expect(stdout).toContain('web\tnginx:1; profile front, all\n')
    expect(stdout).toContain('api\tbuilt from source\n')
  })

  test('options and variables select the files', async () => {
    const cwd = makeFolder({ ...PROJECT, 'sub/compose.yaml': 'services: {inner: {image: a}}' })
    expect(await values('deploy -f other.yaml ', cwd)).toEqual(['other'])
    expect(await values('deploy --file=other.yaml -fstaging.yaml ', cwd)).toEqual(['other', 'debug'])
    expect(await values('deploy --project-directory sub ', cwd)).toEqual(['inner'])
    expect(await values('deploy ', cwd, { COMPOSE_FILE: 'other.yaml:staging.yaml' })).toEqual(['other', 'debug'])
    const withDotenv = makeFolder({ ...PROJECT, '.env': 'A=b\nCOMPOSE_FILE="other.yaml:staging.yaml"\n' })
    expect(await values('deploy ', withDotenv)).toEqual(['other', 'debug'])
    expect(await values('deploy -f missing.yaml ', cwd)).toEqual([])
    expect(await values('deploy -f sub ', cwd)).toEqual([])
    expect(await values('deploy --profile ', cwd)).toEqual(['all', 'data', 'front'])
    expect(await values('deploy -f other.yaml --profile ', cwd)).toEqual(['own'])
  })

  test('a manifest selects the files, and names environments and development containers', async () => {
    const cwd = makeFolder({ ...PROJECT, ...MANIFEST })
    const all = ['web', 'api', 'db', 'cache', 'other']
    expect((await values('deploy ', cwd)).sort()).toEqual(all.toSorted())
    expect((await values('deploy --environment staging ', cwd)).sort()).toEqual([...all, 'debug'].sort())
    expect(await values('deploy -f devctl.yml --environment ', cwd)).toEqual(['staging', 'production'])
    expect(await values('deploy --environment=', cwd)).toEqual(['--environment=staging', '--environment=production'])
    expect(await values('promote ', cwd)).toEqual(['staging', 'production'])
    expect(await values('promote staging ', cwd)).toEqual(['production'])
    expect(await values('exec ', cwd)).toEqual(['backend'])
    expect(await values('exec -- ', cwd)).toEqual([])
    expect(await values('exec backend -- ', cwd)).toEqual([])
    expect(await values('up -- ', cwd)).toEqual([])
    expect(await values('exec -- sh -', cwd)).toEqual([])
  })

  test('without a manifest, development containers are services; with commands alone, there are none', async () => {
    expect(await values('up ', makeFolder(PROJECT))).toContain('api')
    const cwd = makeFolder({ ...PROJECT, 'devctl.yml': 'deploy: [make deploy]\n' })
    expect(await values('up ', cwd)).toEqual([])
  })

  test('broken files offer nothing, and nothing is written', async () => {
    for (const content of ['services: [', '\0', 'a: b', '', 'services: 1', 'include: {a: b}\nservices: {a: }']) {
      const files = { 'compose.yaml': content, 'devctl.yml': content }
      const cwd = makeFolder(files)
      await values('deploy ', cwd)
      await values('deploy --environment ', cwd)
      expect(read(cwd)).toEqual(files)
    }
  })

  test('files outside the project are not read, unless the line or the shell names them', async () => {
    const out = makeFolder({
      'other.yaml': 'services: {secret: {image: a}}\n',
      'devctl.yml': 'dev: {hidden: {image: a}}\n',
    })
    const path = join(out, 'other.yaml')
    const included = makeFolder({ 'compose.yaml': `include: [${path}]\nservices: {own: {image: a}}\n` })
    expect(await values('deploy ', included)).toEqual(['own'])
    expect(await values('deploy --allow-outside ', included)).toEqual(['own', 'secret'])
    expect(await values('deploy ', included, { DEVCTL_ALLOW_OUTSIDE: out })).toEqual(['own', 'secret'])
    expect(await values(`deploy -f ${path} `, included)).toEqual(['secret'])
    const elsewhere: readonly Readonly<Record<string, string>>[] = [
      { 'devctl.yml': `deploy: {compose: [${path}]}\n` },
      { 'devctl.yml': `environments: {e: {compose: ${path}}}\n`, 'compose.yaml': '' },
      { '.env': `COMPOSE_FILE=${path}\n` },
    ]
    for (const files of elsewhere) expect(await values('deploy --environment e ', makeFolder(files))).toEqual([])
    const linked = makeFolder({})
    symlinkSync(path, join(linked, 'compose.yaml'))
    expect(await values('deploy ', linked)).toEqual([])
    const linkedManifest = makeFolder({})
    symlinkSync(join(out, 'devctl.yml'), join(linkedManifest, 'devctl.yml'))
    expect(await values('exec ', linkedManifest)).toEqual([])
  })

  test('a hostile project does not take long', async () => {
    const large = `services: {a: {image: a}}\nx-large: [${'a, '.repeat(300_000)}a]\n`
    const many = Array.from({ length: 50 }, (_, index) => `${index}.yaml`)
    const hostile: readonly Readonly<Record<string, string>>[] = [
      { '.env': '\n'.repeat(300_000), 'compose.yaml': '' },
      { 'compose.yaml': `include: [${many}]`, ...Object.fromEntries(many.map(name => [name, large])) },
      { 'compose.yaml': `${'# '.repeat(100)}\na\n%YAML 1.3\n` },
    ]
    for (const files of hostile) {
      const cwd = makeFolder(files)
      const began = performance.now()
      await values('deploy ', cwd)
      expect(performance.now() - began).toBeLessThan(5000)
    }
  })

  test('a deleted folder offers nothing', async () => {
    const io = { env: {}, readStdin: async () => new Uint8Array() }
    let stdout = ''
    const { main } = await import('../../../../cli/main.ts')
    const status = await main(['__complete', 'zsh', 'deploy', ''], {
      ...io,
      stdout: { isTTY: false, write: text => (stdout += text) },
      stderr: { isTTY: false, write: () => expect.fail('there is output on standard error') },
      get cwd(): string {
        throw new Error('deleted')
      },
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'values\n' })
  })
})

describe('other names', () => {
  test('contexts are those of the kubeconfig', async () => {
    const cwd = makeFolder({ '.kube/config': kubeconfigWith({ kind: 'shop', prod: undefined }) })
    expect(await values('context use ', cwd)).toEqual(['kind', 'prod'])
    expect(await values('deploy --context=', cwd)).toEqual(['--context=kind', '--context=prod'])
    expect(await values('context use ', makeFolder({ '.kube/config': 'a: [' }))).toEqual([])
  })

  test('branches and tags are those of the checkout', async () => {
    const cwd = makeFolder({ a: '' })
    const git = (...words: string[]) => execFileSync('git', ['-C', cwd, ...words], { env: { PATH: process.env.PATH } })
    expect(await values('pipeline deploy --branch ', cwd, { PATH: process.env.PATH! })).toEqual([])
    git('init', '--quiet', '--initial-branch=main')
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'a')
    for (const ref of ['heads/topic/a', 'remotes/origin/far', 'remotes/origin/main', 'remotes/origin/HEAD', 'tags/v1'])
      git('update-ref', `refs/${ref}`, 'HEAD')
    const found = await values('pipeline deploy --branch ', cwd, { PATH: process.env.PATH! })
    expect(found).toEqual(['main', 'topic/a', 'far', 'v1'])
    expect(await values('preview deploy --branch=', cwd, { PATH: '/nonexistent' })).toEqual([])
  })

  test('codes are those that explain knows', async () => {
    const codes = (await explainCode(undefined)).match(/^\S+/gm)!
    const completed = await values('explain ', root)
    expect(completed.length).toBeGreaterThan(500)
    // The pages, which are read, get the code of a new diagnostic after this test: document.test.ts compares them.
    expect(codes).toEqual(expect.arrayContaining(completed))
    const { stdout } = await run(['__complete', 'fish', 'explain', ''], { cwd: root })
    for (const line of stdout.split('\n').slice(1, -1)) expect(line).toMatch(/^\S+\t\S.+$/)
    expect(readFileSync(join(root, 'package.json'), 'utf8')).toContain('"docs/**/*.md"')
  })
})
