import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import { root } from '../../support/cases.ts'
import { run } from '../../support/run.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

const golden = join(root, 'golden/init')
const projects = readdirSync(golden)
let work: string
beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'devctl-init-'))
})
afterAll(() => rmSync(work, { recursive: true, force: true }))

/** Copies a project out of its repository, so that it is named after its folder. */
function copyOf(project: string, as = project): string {
  const folder = join(work, as)
  cpSync(join(golden, project), folder, { recursive: true, filter: path => !path.endsWith('/expected') })
  return folder
}

const written = (folder: string, name: string): string | undefined =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined

describe.each(projects)('%s', project => {
  test('init writes the expected manifest, which validate accepts', async () => {
    const folder = copyOf(project)
    const { status, stdout, stderr } = await run(['init', '--yes'], { cwd: folder })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const expected = join(golden, project, 'expected')
    await expect(stdout).toMatchFileSnapshot(join(expected, 'output.txt'))
    const manifest = written(folder, 'devctl.yml')
    const ignores = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path =>
      path.endsWith('.stignore'),
    )
    if (manifest === undefined) return expect(stdout).toContain('no manifest is needed')
    await expect(manifest).toMatchFileSnapshot(join(expected, 'devctl.yml'))
    for (const path of ignores)
      await expect(written(folder, path)).toMatchFileSnapshot(join(expected, path.replace('.stignore', 'stignore')))
    const checked = await run(['validate'], { cwd: folder })
    expect(checked).toMatchObject({ status: 0, stderr: expect.stringMatching(/^(?!error)/) })
  })
})

/** Runs the command on a terminal whose user gives these answers. */
async function answer(folder: string, args: readonly string[], answers: readonly (string | undefined)[]) {
  const asked: { question: string; choices: readonly string[] }[] = []
  const shown = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY: true,
    write: (text: string) => {
      shown[name] += text
    },
  })
  const left = [...answers]
  const status = await main(['init', ...args], {
    stdout: output('stdout'),
    stderr: output('stderr'),
    readStdin: async () => new Uint8Array(),
    env: { NO_COLOR: '1' },
    cwd: folder,
    choose: async (question, choices) => {
      asked.push({ question, choices: choices.map(({ value }) => value) })
      return left.shift()
    },
  })
  return { status, asked, ...shown }
}

describe('init on a terminal', () => {
  test('init asks for the command and whether to write', async () => {
    const folder = copyOf('node-express', 'asked')
    const { status, asked, stdout } = await answer(folder, [], ['npm install && npm run start', 'manifest'])
    expect(status).toBe(0)
    expect(asked.map(({ question }) => question)).toEqual([
      'Which command runs asked during development?',
      'Write devctl.yml?',
    ])
    expect(written(folder, 'devctl.yml')).toContain('command: npm install && npm run start\n')
    expect(written(folder, '.stignore')).toBeUndefined()
    expect(stdout).toContain('next: devctl up asked')
  })

  test('init writes only the chosen applications', async () => {
    const folder = copyOf('several-applications', 'some')
    await answer(folder, [], ['services/web', 'all'])
    expect(written(folder, 'devctl.yml')).toMatch(/^dev:\n {2}web:\n/m)
    expect(written(folder, 'devctl.yml')).not.toContain('api')
    expect(written(folder, 'services/web/.stignore')).toContain('node_modules')
  })

  test.each([[['nothing']], [[undefined]]])('init writes nothing after the answer %j', async answers => {
    const folder = copyOf('rust', `left-${answers[0]}`)
    const { status, stderr } = await answer(folder, [], answers)
    expect({ status, files: readdirSync(folder).includes('devctl.yml') }).toEqual({ status: 130, files: false })
    expect(stderr).toContain('nothing was written')
  })

  test('init -v1 asks for the language only, and does not read other files', async () => {
    const folder = copyOf('manifests', 'plain')
    const { asked } = await answer(folder, ['-v1'], ['node', 'all'])
    expect(asked.map(({ question }) => question)).toEqual(['Which language?', 'Write devctl.yml?'])
    expect(written(folder, 'devctl.yml')).not.toMatch(/^(?:deploy|build):/m)
    expect((await answer(copyOf('rust', 'other'), ['-v1'], ['go'])).stderr).toContain('has no project for `go`')
  })
})

describe('an existing manifest', () => {
  const old = 'dev:\n  old: {sync: [".:/old"]}\n'
  const withOld = (name: string) => {
    const folder = copyOf('rust', name)
    writeFileSync(join(folder, 'devctl.yml'), old)
    return folder
  }

  test.each([[[]], [['--replace', 'false']], [['--replace=false']]])('the manifest is kept with %j', async args => {
    const folder = withOld(`kept-${args.length}${args[0]?.length}`)
    const { status, stderr } = await run(['init', '--yes', ...args], { cwd: folder })
    expect(status).toBe(1)
    expect(stderr).toBe(
      'error: `devctl.yml` already exists\n  = help: to replace it, add `--replace`; a copy is kept\n',
    )
    expect(written(folder, 'devctl.yml')).toBe(old)
  })

  test.each([[['--replace']], [['--replace', 'true']], [['--replace=true']]])('%j replaces a manifest', async args => {
    const folder = withOld(`replaced-${args.join('')}`)
    const { status, stdout, stderr } = await run(['init', '--yes', ...args], { cwd: folder })
    expect({ status, copy: written(folder, 'devctl.yml.bak') }).toEqual({ status: 0, copy: old })
    expect(stderr).toContain('-  old: {sync: [".:/old"]}')
    expect(stdout).toContain('kept: devctl.yml.bak\n')
    const again = await run(['init', '--yes', ...args], { cwd: folder })
    expect(again.stdout).toContain('unchanged: devctl.yml\n')
    expect(written(folder, 'devctl.yml.bak2')).toBeUndefined()
  })

  test('an existing ignore file is kept', async () => {
    const folder = withOld('own-ignores')
    writeFileSync(join(folder, '.stignore'), 'mine\n')
    await run(['init', '--yes', '--replace'], { cwd: folder })
    expect(written(folder, '.stignore')).toBe('mine\n')
  })
})

test('init --analyze prints what it found as JSON, and writes nothing', async () => {
  const { stdout, status } = await run(['init', '--analyze', '--output', 'json'], {
    cwd: copyOf('manifests', 'analyzed'),
  })
  expect(status).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    name: 'analyzed',
    deployed: { by: 'manifests', path: 'k8s', workloads: [{ kind: 'Deployment', name: 'greeter', port: 3000 }] },
    applications: [
      {
        name: 'greeter',
        isDeployed: true,
        application: { language: 'node', port: { value: 3000, from: 'server.js' } },
      },
    ],
  })
  expect(written(join(work, 'analyzed'), 'devctl.yml')).toBeUndefined()
})

describe('names of applications', () => {
  const NODE = '{"scripts": {"dev": "x"}}'
  const workload = (name: string, image: string) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec: {template: {spec: {containers: [{name: a, image: ${image}}]}}}\n`

  test.each<readonly [title: string, folders: readonly string[], workloads: readonly string[], names: object]>([
    ['different folders', ['apps/web', 'api'], [], { 'apps/web': 'web', api: 'api' }],
    [
      'folders with one name',
      ['apps/web', 'services/web'],
      [],
      { 'apps/web': 'apps-web', 'services/web': 'services-web' },
    ],
    ['names that become one label', ['my-api', 'my_api'], [], { 'my-api': 'my-api', my_api: 'my-api-2' }],
    [
      'a path that is the name of another folder',
      ['apps-web', 'apps/web', 'services/web'],
      [],
      { 'apps-web': 'apps-web', 'apps/web': 'apps-web-2', 'services/web': 'services-web' },
    ],
    [
      'a workload for the first',
      ['apps/web', 'services/web'],
      ['web x'],
      { 'apps/web': 'web', 'services/web': 'services-web' },
    ],
    ['a workload with two applications', ['web', 'ui'], ['web ui'], { web: 'web', ui: 'ui' }],
  ])('init gives each application another name: %s', async (title, folders, workloads, names) => {
    const cwd = join(work, `names ${title}`)
    const files = workloads.map(one => one.split(' ') as [string, string])
    for (const [path, text] of [
      ...folders.map(folder => [`${folder}/package.json`, NODE] as const),
      ...files.map(([name, image]) => [`k8s/${name}.yaml`, workload(name, image)] as const),
    ]) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true })
      writeFileSync(join(cwd, path), text)
    }
    const { status, stdout, stderr } = await run(['init', '--analyze', '--output', 'json'], { cwd })
    expect(status, stderr).toBe(0)
    const { applications } = JSON.parse(stdout) as {
      applications: { name: string; folder: string; isDeployed: boolean }[]
    }
    expect(Object.fromEntries(applications.map(({ folder, name }) => [folder, name]))).toEqual(names)
    const deployed = applications.filter(({ isDeployed }) => isDeployed)
    expect(deployed.map(({ name }) => name)).toEqual(files.map(([name]) => name))
    expect(await run(['init', '--yes'], { cwd })).toMatchObject({ status: 0 })
  })
})

test('init takes a namespace, a context and another file', async () => {
  const folder = copyOf('rust', 'named')
  const args = ['--namespace', 'shop', '--context', 'kind-dev', '--file', '.devctl/devctl.yml']
  await run(['init', '--yes', ...args], { cwd: folder })
  expect(written(folder, '.devctl/devctl.yml')).toMatch(/^namespace: shop\ncontext: kind-dev\n/m)
  expect(written(folder, '.stignore')).toContain('target')
})

test.each([
  [['init'], 'asks questions, and there is no terminal'],
  [['init', '--yes', '--replace', 'maybe'], '`--replace` is `maybe`'],
  [['init', '--yes', '--output', 'json'], '`--output json` is for `--analyze`'],
])('%j is refused', async (args, message) => {
  const { status, stderr } = await run(args, { cwd: copyOf('rust', 'refused') })
  expect({ status, message: stderr }).toEqual({ status: 2, message: expect.stringContaining(message) })
})

describe('Compose files', () => {
  const BASE = 'services: {api: {image: node, command: serve}}\n'
  const DEVELOPED = 'services: {api: {build: ., ports: ["3000:8080"], volumes: ["./src:/app"]}}\n'

  /** Creates a folder with these files, a Dockerfile and a source file. */
  function folderWith(name: string, files: Readonly<Record<string, string>>): string {
    const folder = join(work, name)
    for (const [path, text] of Object.entries({ 'src/main.js': '', Dockerfile: 'FROM node\n', ...files })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return folder
  }
  const init = (cwd: string, env: Readonly<Record<string, string>> = {}, args: readonly string[] = []) =>
    run(['init', '--yes', ...args], { cwd, env })

  const BASES = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml', '.devctl/compose.yaml']
  const OVERRIDES = BASES.map(path => path.replace(/(\.ya?ml)$/, '.override$1'))

  test.each(
    BASES.flatMap(base =>
      OVERRIDES.filter(path => dirname(path) === dirname(base)).map(override => [base, override] as const),
    ),
  )('%s is merged with %s', async (base, override) => {
    const folder = folderWith(`${base} ${override}`.replaceAll('/', '-'), { [base]: BASE, [override]: DEVELOPED })
    const { status, stdout, stderr } = await init(folder)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain(`found: ${base} and ${override}, with host folders for api\n`)
    const manifest = written(folder, 'devctl.yml')
    expect(manifest).toContain(`# \`sync\` is what ${base} and ${override} say: src:/app\n`)
    expect(manifest).toContain('command: [serve]\n    forward:\n      - 3000:8080\n')
    expect(manifest).not.toContain('deploy:')
  })

  test('services whose names become one label get the names that they have in the cluster', async () => {
    const service = (path: string) => `{build: ., volumes: ["./${path}:/app"]}`
    const services = `services: {my_api: ${service('src')}, my-api: ${service('src')}, 2nd: ${service('src')}}\n`
    const folder = folderWith('one-label', { 'compose.yaml': services })
    expect(await init(folder)).toMatchObject({ status: 0, stderr: '' })
    const names = [...written(folder, 'devctl.yml')!.matchAll(/^ {2}([\w-]+):/gm)].map(([, name]) => name)
    expect(names).toEqual(['my-api-703a7', 'my-api', 's-2nd'])
  })

  test('an override of `.devctl` is not merged with a file of the project', async () => {
    const files = {
      'docker-compose.yml': BASE,
      '.devctl/compose.yaml': '-',
      '.devctl/compose.override.yaml': DEVELOPED,
    }
    const { status, stdout } = await init(folderWith('not-mixed', files))
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('docker-compose.yml is enough') })
  })

  test.each([
    ['empty', ''],
    ['of comments', '# nothing\n'],
    ['with no services', 'services: {}\n'],
  ])('an override changes nothing if its content is %s', async (name, text) => {
    const folder = folderWith(`override ${name}`, { 'compose.yaml': DEVELOPED, 'compose.override.yml': text })
    const { status, stdout } = await init(folder)
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('next: devctl up api\n') })
  })

  test('an override resets keys of the base', async () => {
    const override = 'services: {api: {volumes: !reset [], build: !reset null, image: node}}\n'
    const folder = folderWith('reset', { 'compose.yaml': DEVELOPED, 'compose.override.yaml': override })
    const { stdout } = await init(folder)
    expect(stdout).toMatch(/^compose\.yaml and compose\.override\.yaml are enough: no manifest is needed/)
    expect(written(folder, 'devctl.yml')).toBeUndefined()
  })

  test.each([
    ['that is not YAML', 'services: [', 'compose.override.yaml:1:'],
    ['with an unknown key', 'services:\n  api:\n    bild: .\n', 'compose.override.yaml:3:5'],
    ['with a wrong type', 'services:\n  api:\n    ports: 80\n', 'compose.override.yaml:3:12'],
    ['with an unset variable', 'services:\n  api:\n    command: ${UNSET:?}\n', 'compose.override.yaml:3:14'],
  ])('an override %s is an error at its position', async (name, text, position) => {
    const folder = folderWith(`broken ${name}`, { 'compose.yaml': DEVELOPED, 'compose.override.yaml': text })
    const { status, stdout, stderr } = await init(folder)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^error\[/)
    expect(stderr).toContain(`--> ${position}`)
    expect(stderr).toContain('\n1 error in 1 file; nothing was written.')
    expect(written(folder, 'devctl.yml')).toBeUndefined()
    const analyzed = await run(['init', '--analyze', '--output', 'json'], { cwd: folder })
    expect(JSON.parse(analyzed.stdout)).toMatchObject({ compose: { hasErrors: true } })
    expect(analyzed).toMatchObject({ status: 1, stderr: expect.stringContaining(`--> ${position}`) })
  })

  test('the first of several base files is used, with a warning', async () => {
    const files = { 'compose.yaml': DEVELOPED, 'docker-compose.yml': BASE, 'docker-compose.override.yml': BASE }
    const { status, stdout, stderr } = await init(folderWith('several', files))
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining('found: compose.yaml and docker-compose.override.yml, with'),
    })
    expect(stderr).toBe(
      'warning[files/several-compose-files]: `compose.yaml` is used; `docker-compose.yml` is ignored\n',
    )
  })

  test('COMPOSE_FILE of `.env` names the files, so that the manifest need not', async () => {
    const env = 'COMPOSE_PATH_SEPARATOR=,\nCOMPOSE_FILE=base.yaml,dev.yaml\n'
    const folder = folderWith('of-env', { '.env': env, 'base.yaml': BASE, 'dev.yaml': DEVELOPED })
    const { status, stdout } = await init(folder)
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringContaining('found: base.yaml and dev.yaml, with host folders for api\n'),
    })
    expect(written(folder, 'devctl.yml')).not.toContain('deploy:')
    for (const cwd of [folder, join(folder, 'src')])
      expect(await run(['config', '--services'], { cwd })).toMatchObject({ status: 0, stdout: 'api\n' })
  })

  test.each<{ readonly COMPOSE_FILE: string } & Readonly<Record<string, string>>>([
    { COMPOSE_FILE: 'base.yaml:dev.yaml' },
    { COMPOSE_FILE: 'base.yaml,dev.yaml', COMPOSE_PATH_SEPARATOR: ',' },
  ])('the manifest names the files of %j, which is only set in this shell', async env => {
    const folder = folderWith(`of-shell-${env.COMPOSE_FILE.replace(':', '')}`, {
      'base.yaml': BASE,
      'dev.yaml': DEVELOPED,
      'compose.yaml': '-',
    })
    const { status, stdout, stderr } = await init(folder, env)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).not.toContain('no manifest')
    expect(written(folder, 'devctl.yml')).toContain('deploy:\n  compose:\n    - base.yaml\n    - dev.yaml\n')
    const { stdout: services } = await run(['config', '--format', 'json'], { cwd: folder })
    expect(JSON.parse(services)).toMatchObject({ services: { api: { command: ['serve'], ports: [{ target: 8080 }] } } })
  })

  test('the manifest names files without anything to develop, too', async () => {
    const folder = folderWith('of-shell-only', { 'stack.yaml': BASE })
    const { stdout } = await init(folder, { COMPOSE_FILE: 'stack.yaml' })
    expect(stdout).toBe('found: stack.yaml\nfound: Dockerfile\nwritten: devctl.yml\nnext: devctl deploy\n')
    expect(written(folder, 'devctl.yml')).toMatch(/\ndeploy:\n {2}compose:\n {4}- stack.yaml\n$/)
  })

  test('the manifest names no files that are found without COMPOSE_FILE', async () => {
    const folder = folderWith('of-shell-default', { 'compose.yaml': BASE, 'compose.override.yaml': DEVELOPED })
    await init(folder, { COMPOSE_FILE: 'compose.yaml:compose.override.yaml' })
    expect(written(folder, 'devctl.yml')).toMatch(/\ndev:\n {2}api:/)
    expect(written(folder, 'devctl.yml')).not.toContain('deploy:')
  })

  test('the override is left out when COMPOSE_FILE names the base file alone', async () => {
    const folder = folderWith('base-alone', { 'compose.yaml': BASE, 'compose.override.yaml': DEVELOPED })
    await init(folder, { COMPOSE_FILE: 'compose.yaml' })
    expect(written(folder, 'devctl.yml')).toMatch(/\ndeploy:\n {2}compose:\n {4}- compose.yaml\n$/)
  })

  test('COMPOSE_FILE with a missing file is an error', async () => {
    const { status, stderr } = await init(folderWith('missing', {}), { COMPOSE_FILE: 'missing.yaml' })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('`missing.yaml` does not exist') })
  })

  test('COMPOSE_FILE with standard input is an error', async () => {
    const folder = folderWith('stdin', {})
    const { status, stderr } = await run(['init', '--yes'], { cwd: folder, env: { COMPOSE_FILE: '-' }, stdin: BASE })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('names standard input') })
  })

  test('a Compose file in a folder above is not used', async () => {
    folderWith('above', { 'compose.yaml': DEVELOPED })
    const { status, stderr } = await init(folderWith('above/empty', {}))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(written(join(work, 'above/empty'), 'devctl.yml')).toContain('build:\n  ')
  })

  test('the Compose files are those beside the manifest, also in another folder', async () => {
    const folder = folderWith('elsewhere', {
      'sub/compose.yaml': BASE,
      'sub/compose.override.yaml': DEVELOPED,
      'sub/src/main.js': '',
    })
    const { stdout } = await init(folder, {}, ['--file', 'sub/devctl.yml'])
    expect(stdout).toContain('found: compose.yaml and compose.override.yaml, with host folders for api\n')
    expect(written(folder, 'sub/devctl.yml')).toContain('say: src:/app\n')
  })

  test('a chart beside a Compose file is not deployed', async () => {
    const folder = folderWith('with-chart', { 'compose.yaml': DEVELOPED, 'chart/Chart.yaml': 'name: x\n' })
    await init(folder)
    expect(written(folder, 'devctl.yml')).not.toContain('deploy:')
  })
})

test('init fails in an empty folder', async () => {
  mkdirSync(join(work, 'empty'))
  const { status, stderr } = await run(['init', '--yes'], { cwd: join(work, 'empty') })
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('no application was recognised') })
})

test('init succeeds whatever the files of a project contain', async () => {
  const marker = fc.constantFrom(
    'package.json',
    'requirements.txt',
    'go.mod',
    'pom.xml',
    'Gemfile',
    'composer.json',
    'Cargo.toml',
  )
  const content = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc
      .record({ scripts: fc.dictionary(fc.string(), fc.string()), engines: fc.record({ node: fc.string() }) })
      .map(one => JSON.stringify(one)),
  )
  const dockerfile = fc.string().map(text => `FROM x\nWORKDIR /${text}\nEXPOSE ${text}\n`)
  let number = 0
  await fc.assert(
    fc.asyncProperty(marker, content, dockerfile, async (name, text, image) => {
      const folder = join(work, `generated-${number++}`)
      mkdirSync(folder)
      writeFileSync(join(folder, name), text)
      writeFileSync(join(folder, 'Dockerfile'), image)
      const { status, stderr } = await run(['init', '--yes'], { cwd: folder })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    }),
    { numRuns: TAKES_ALL ? 1000 : 25 },
  )
})
