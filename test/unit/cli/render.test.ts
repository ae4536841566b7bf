import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LOCK_NAME } from '../../../project/lock.ts'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { documentsOf } from '../../support/documents.ts'
import { run } from '../../support/run.ts'

const compose = `name: shop
services:
  web:
    image: nginx:1.27
    ports: [80]
    depends_on: [db]
  db:
    image: postgres:16
    volumes: [data:/data]
  other:
    image: redis:7
    ports: [6379]
volumes:
  data:
`
const usual = ['--namespace', 'shop', '--domain', 'dev.example.com']

const render = (cwd: string, ...argv: string[]) => run(['render', ...usual, ...argv], { cwd })

const objects = (stdout: string) => documentsOf(stdout).map(({ object }) => `${object.kind}/${object.metadata.name}`)

describe('render', () => {
  test('render prints a stream of documents, and their number', async () => {
    const result = await render(makeFolder({ 'compose.yaml': compose }))
    expect(result.status, result.stderr).toBe(0)
    expect(objects(result.stdout)).toEqual(
      expect.arrayContaining(['Deployment/web', 'StatefulSet/db', 'Deployment/other', 'Service/web']),
    )
    expect(result.stdout).toMatch(/^# compose\.yaml#/)
    expect(result.stderr).toBe(`${objects(result.stdout).length} objects from 3 services\n`)
  })

  test('render prints the same bytes from any folder and with any order of keys', async () => {
    const there = makeFolder({ 'compose.yaml': compose })
    const [head, web, db, other, tail] = compose.split(/^(?= {2}(?:web|db|other):|volumes:)/m)
    const shuffled = makeFolder({ 'sub/compose.yaml': [tail, head, other, web, db].join('') })
    const first = await render(there)
    expect((await render(shuffled, '-f', 'sub/compose.yaml')).stdout).toBe(first.stdout)
    expect((await render('/', '-f', join(there, 'compose.yaml'))).stdout).toBe(first.stdout)
  })

  test('with names, render prints the same objects as without, and only diagnostics about them', async () => {
    // Compiled alone, `init` would be a StatefulSet, and no Pod would have a label for its network.
    const folder = makeFolder({
      'compose.yaml': `services:
  web: {image: nginx, networks: [front], depends_on: {init: {condition: service_completed_successfully}}}
  init: {image: busybox, command: "true", networks: [back], volumes: ["data:/d"]}
  db: {image: postgres, networks: [back], isolation: hyperv}
networks: {front: , back: }
volumes: {data: }
`,
    })
    const all = await render(folder)
    const texts = all.stdout.split('---\n')
    for (const [service, counts] of [
      ['init', '3 objects from 1 service\n'],
      ['web', '9 objects from 2 services\n'],
    ] as const) {
      const { stdout, stderr } = await render(folder, service)
      expect(stderr).toBe(counts)
      expect(stdout.split('---\n').filter(one => !texts.includes(one))).toEqual([])
    }
    expect(all.stderr).toContain('isolation')
  })

  test('render takes the registry from its option, the manifest or DEVCTL_REGISTRY, in this order', async () => {
    const built = 'services: {web: {build: .}}\n'
    const files = { 'compose.yaml': built, Dockerfile: 'FROM nginx:1.27\n' }
    const image = async (cwd: string, ...argv: string[]) => {
      const env = { DEVCTL_REGISTRY: 'env.example.com/r' }
      const { stdout, stderr } = await run(['render', ...usual, ...argv], { cwd, env })
      return /image: (\S+)\/[^/]+$/m.exec(stdout)?.[1] ?? stderr
    }
    const plain = makeFolder(files)
    expect(await image(plain)).toBe('env.example.com/r')
    expect(await image(plain, '--registry', 'option.example.com/r')).toBe('option.example.com/r')
    const own = { 'devctl.yml': 'registry: top.example.com/r\n' }
    expect(await image(makeFolder({ ...files, ...own }))).toBe('top.example.com/r')
    const wrong = await run(['render', ...usual], { cwd: plain, env: { DEVCTL_REGISTRY: 'A/B' } })
    expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('`DEVCTL_REGISTRY` is `A/B`') })
  })

  test('render prints one list as JSON', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    const list = JSON.parse((await render(folder, '--format', 'json')).stdout)
    expect(list).toMatchObject({ apiVersion: 'v1', kind: 'List' })
    const yaml = (await render(folder)).stdout
    expect(list.items).toEqual(documentsOf(yaml).map(({ object }) => object))
  })

  test('render prints only the objects of the named services and of what they depend on', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    const { stdout } = await render(folder, 'web')
    expect(objects(stdout)).toEqual(expect.arrayContaining(['Deployment/web', 'StatefulSet/db']))
    expect(objects(stdout).filter(one => one.endsWith('/other'))).toEqual([])
    expect((await render(folder, 'wbe')).status).toBe(1)
  })

  test('`diff --against` compares with the output of render, unless an option differs', async () => {
    const text = compose
      .replace('[db]', '{db: {condition: service_healthy}}')
      .replace('volumes: [data:/data]', 'expose: [5432]\n    healthcheck: {test: pg_isready}')
    const folder = makeFolder({ 'compose.yaml': text })
    await render(folder, '--output-dir', 'k8s')
    const diff = (...words: readonly string[]) =>
      run(['diff', ...usual, '--against', 'k8s', '--exit-code', ...words], { cwd: folder })
    expect((await diff()).status).toBe(0)
    expect((await diff('--start-order', 'manifest')).status).toBe(0)
    const { status, stdout } = await diff('--start-order', 'client')
    expect(status).toBe(3)
    expect(stdout).toContain('deployment/web')
  })

  test('render reads standard input', async () => {
    const folder = makeFolder()
    const { status, stdout, stderr } = await run(['render', ...usual, '-f', '-'], { cwd: folder, stdin: compose })
    expect(status, stderr).toBe(0)
    expect(objects(stdout)).toContain('Deployment/web')
    const fromVariable = await run(['render', ...usual], { cwd: folder, stdin: compose, env: { COMPOSE_FILE: '-' } })
    expect(fromVariable.stdout).toBe(stdout)
  })

  test('render prints nothing if there is an error', async () => {
    const folder = makeFolder({ 'compose.yaml': compose.replace('image: nginx', 'imagee: nginx') })
    const { status, stdout, stderr } = await render(folder)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain('--> compose.yaml:4:5\n')
    expect(stderr).toMatch(/\d errors? in 1 file; nothing was rendered\. `devctl explain [a-z0-9/-]+` tells more\n$/)
  })

  test('render takes images from options and files', async () => {
    const folder = makeFolder({
      'compose.yaml': compose,
      'm.json': '{"web": "r/web:2", "db": "r/db:2", "stranger": "x"}',
    })
    const { stdout, stderr } = await render(folder, '--images-file', 'm.json', '--image', 'db=r/db:3')
    expect(stdout, stderr).toContain('image: r/web:2')
    expect(stdout).toContain('image: r/db:3')
    expect(await render(folder, '--image', 'wbe=x')).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'error: `--image` names a service `wbe`, which the files do not have\n  = help: the services are `web`, `db`, `other`\n',
    })
  })

  test('render prints neither warnings nor sums at `--loglevel error`', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    // A missing domain or namespace causes warnings.
    const loud = await run(['render'], { cwd: folder })
    const quiet = await run(['--loglevel', 'error', 'render'], { cwd: folder })
    expect(quiet).toEqual({ ...loud, stderr: '' })
    expect(loud.stderr).not.toBe('')
  })

  test('render takes the namespace from DEVCTL_NAMESPACE', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    const { stdout } = await run(['render', '--domain', 'd.io'], { cwd: folder, env: { DEVCTL_NAMESPACE: 'mine' } })
    expect(documentsOf(stdout).every(({ object }) => object.metadata.namespace === 'mine')).toBe(true)
  })

  test('render names the environment after the repository', async () => {
    const folder = makeFolder({
      'compose.yaml': compose.replace('name: shop\n', ''),
      '.git/config': '[remote "origin"]\n\turl = https://git.example.com/team/Guest_Book.git\n',
    })
    const { stdout } = await render(folder)
    expect(stdout).toContain('dev.platform/environment: guest-book\n')
  })
})

describe('render --output-dir', () => {
  test('render writes a file per object, and the kustomization that lists them', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    const { status, stdout, stderr } = await render(folder, '--format', 'kustomize', '--output-dir', 'k8s')
    expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '' })
    const { [LOCK_NAME]: lock, 'kustomization.yaml': kustomization, ...files } = read(join(folder, 'k8s'))
    expect(Object.keys(files)).toEqual(
      expect.arrayContaining([
        'web/deployment-web.yaml',
        'db/statefulset-db.yaml',
        '_shared/persistentvolumeclaim-data.yaml',
      ]),
    )
    expect(kustomization).toBe(
      `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n${Object.keys(files)
        .map(path => `  - ${path}\n`)
        .join('')}`,
    )
    expect(Object.keys(JSON.parse(lock!).files)).toEqual([...Object.keys(files), 'kustomization.yaml'].sort())
    expect(lock).not.toContain(folder)
    const count = Object.keys(files).length
    expect(stderr).toBe(`${count} objects from 3 services in k8s (${count + 1} written, 0 removed, 0 unchanged)\n`)
    const stream = documentsOf((await render(folder)).stdout)
    for (const { text } of stream) expect(Object.values(files)).toContain(text)
  })

  test('render replaces changed files and deletes the files of deleted services', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    await render(folder, '--output-dir', 'k8s')
    const before = read(join(folder, 'k8s'))
    write(folder, {
      'compose.yaml': compose.replace(/ {2}other:[\s\S]*?(?=volumes:\n)/, '').replace('nginx:1.27', 'nginx:1.28'),
    })
    const { stderr } = await render(folder, '--output-dir', 'k8s')
    const after = read(join(folder, 'k8s'))
    expect(Object.keys(before).filter(path => !(path in after))).toEqual([
      'other/deployment-other.yaml',
      'other/service-other.yaml',
    ])
    expect(stderr).toContain('in k8s (1 written, 2 removed, ')
    expect(await render(folder, '--output-dir', 'k8s')).toMatchObject({
      stderr: expect.stringContaining('(0 written, 0 removed, '),
    })
    expect(read(join(folder, 'k8s'))).toEqual(after)
  })

  test('render leaves the folder as it is if there is an error', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    await render(folder, '--output-dir', 'k8s')
    const before = read(join(folder, 'k8s'))
    write(folder, { 'compose.yaml': 'services:\n  web:\n    imagee: x\n' })
    expect((await render(folder, '--output-dir', 'k8s')).status).toBe(1)
    expect((await render(folder, '--output-dir', 'new')).status).toBe(1)
    expect(read(join(folder, 'k8s'))).toEqual(before)
    expect(Object.keys(read(folder)).some(path => path.startsWith('new'))).toBe(false)
  })

  test('render refuses to replace an edited file, and names it', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    await render(folder, '--output-dir', 'k8s')
    const path = join(folder, 'k8s/web/deployment-web.yaml')
    write(folder, { 'k8s/web/deployment-web.yaml': `${readFileSync(path, 'utf8')}# mine\n` })
    expect(await render(folder, '--output-dir', 'k8s')).toEqual({
      status: 1,
      stdout: '',
      stderr: `--- k8s/web/deployment-web.yaml (as it is)
+++ k8s/web/deployment-web.yaml (what devctl writes)
@@ -42,3 +42,2 @@
               containerPort: 80
               protocol: TCP
-# mine
error: 1 edited file in \`k8s\` would be lost; nothing was written
  = note: \`web/deployment-web.yaml\` was edited by hand since devctl wrote it
  = help: make the change in the Compose files, or move the file away; \`--take-over\` replaces it
`,
    })
    expect((await render(folder, '--output-dir', 'k8s', '--take-over')).status).toBe(0)
    expect(readFileSync(path, 'utf8')).not.toContain('# mine')
  })

  test('render deletes no files if only some services are named', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    await render(folder, '--output-dir', 'k8s')
    const before = Object.keys(read(join(folder, 'k8s')))
    await render(folder, 'other', '--output-dir', 'k8s')
    expect(Object.keys(read(join(folder, 'k8s')))).toEqual(before)
  })

  test('render writes JSON files with `--format json`', async () => {
    const folder = makeFolder({ 'compose.yaml': compose })
    await render(folder, '--output-dir', 'k8s', '--format', 'json')
    const { 'web/deployment-web.json': text } = read(join(folder, 'k8s'))
    expect(JSON.parse(text!)).toMatchObject({ kind: 'Deployment', metadata: { name: 'web' } })
  })
})

test('a Job that more Pods have to complete gets another name, because it cannot change in place', async () => {
  const nameOf = async (scale: string) => {
    const compose = `name: shop\nservices: {work: {image: busybox, restart: "no", ${scale}}}\n`
    const { stdout } = await run(['render', '--namespace', 'shop'], { cwd: makeFolder({ 'compose.yaml': compose }) })
    return /^ {2}name: (work-[0-9a-f]{8})$/m.exec(stdout)?.[1]
  }
  const names = [await nameOf(''), await nameOf('scale: 2'), await nameOf('scale: 3')]
  expect(new Set(names).size).toBe(3)
  expect(await nameOf('scale: 1')).toBe(names[0])
})

const TWO = 'name: shop\nservices:\n  web: {image: nginx}\n  db: {image: redis}\n'

test.each(['single-file', 'kustomize'])('render refuses names of services in the layout %s', async layout => {
  const cwd = makeFolder({ 'compose.yaml': TWO })
  const words = ['render', 'web', '--namespace', 'shop', '--output-dir', 'out', '--layout', layout]
  const { status, stderr } = await run(words, { cwd })
  expect(status).toBe(2)
  expect(stderr).toContain(`error: the layout \`${layout}\` writes all services, not only those that are named\n`)
  expect(stderr).toContain('help: leave out the names of the services, or add `--layout plain`')
  expect(readdirSync(cwd)).toEqual(['compose.yaml'])
})

test('render refuses names of services for a folder that has all objects in one file', async () => {
  const cwd = makeFolder({ 'compose.yaml': TWO })
  const words = ['--namespace', 'shop', '--output-dir', 'out']
  expect((await run(['render', ...words, '--layout', 'single-file'], { cwd })).status).toBe(0)
  const before = readdirSync(join(cwd, 'out'))
  const { status, stderr } = await run(['render', 'web', ...words], { cwd })
  expect(status).toBe(1)
  expect(stderr).toContain('error: `out` has the objects of all services in `manifests.yaml`\n')
  expect(readdirSync(join(cwd, 'out'))).toEqual(before)
})

describe('links in the output folder', () => {
  const outside = (cwd: string) => readdirSync(join(cwd, 'outside'))

  test.each([
    ['the folder of a service', [], 'out/web', '`web` is a symbolic link'],
    ['a file', [], 'out/web/service-web.yaml', '`web/service-web.yaml` is a symbolic link'],
    ['the lock', [], 'out/.devctl.lock', '`out/.devctl.lock` is a symbolic link'],
    ['the folder of all bases', ['--layout', 'kustomize'], 'out/apps', '`out/apps` is a symbolic link'],
    ['the folder of a base', ['--layout', 'kustomize'], 'out/apps/shop', '`out/apps/shop` is a symbolic link'],
    ['a folder of an overlay', ['--layout', 'kustomize'], 'out/environments', '`out/environments` is a symbolic link'],
  ])('render writes nothing through a link below the output folder: %s', async (_, options, path, message) => {
    const cwd = makeFolder({ 'compose.yaml': compose, 'outside/README': '' })
    mkdirSync(join(cwd, path, '..'), { recursive: true })
    symlinkSync(join(cwd, 'outside'), join(cwd, path))
    for (const more of [[], ['--take-over']]) {
      const { status, stderr } = await render(cwd, '--output-dir', 'out', ...options, ...more)
      expect([status, stderr]).toEqual([1, expect.stringContaining(message)])
      expect(outside(cwd)).toEqual(['README'])
    }
  })

  test.each([[[]], [['--layout', 'kustomize']]])('the output folder itself may be a link, with %j', async options => {
    const cwd = makeFolder({ 'compose.yaml': compose, 'outside/README': '' })
    symlinkSync(join(cwd, 'outside'), join(cwd, 'out'))
    expect((await render(cwd, '--output-dir', 'out', ...options)).status).toBe(0)
    expect(outside(cwd).length).toBeGreaterThan(1)
  })
})
