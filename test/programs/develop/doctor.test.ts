import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { maskedObject } from '../../../develop/doctor/masked.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'
import { zipFiles } from '../../support/zip-files.ts'

let work: string
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'devctl-doctor-'))
  mkdirSync(join(work, 'project'))
})
afterEach(() => rmSync(work, { recursive: true, force: true }))

const project = (name: string) => join(work, 'project', name)
const MANIFEST = `# password: in-a-comment
dev:
  api:
    environment:
      - PLAIN=visible-to-nobody
    command: serve --token hunter2-very-secret
    sync: [".:/app"]
build:
  api: {context: ., args: {ARG: given-to-the-build}}
`

async function doctor(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const result = await run(['doctor', ...args], {
    cwd: join(work, 'project'),
    env: { DEVCTL_HOME: join(work, 'home'), KUBECONFIG: join(work, 'kubeconfig'), ...env },
  })
  const zip = readdirSync(join(work, 'project')).find(name => name.endsWith('.zip'))
  const files = zip === undefined ? new Map<string, string>() : zipFiles(project(zip))
  return { ...result, zip, files, metadata: JSON.parse(files.get('metadata.json') ?? '{}') }
}

/** Writes a session that ended some time ago. */
function session(dev: string, log: string, server = 'abc') {
  const folder = join(work, 'home', 'develop', server, 'shop', dev)
  mkdirSync(join(folder, 'conflicts', '2026'), { recursive: true })
  writeFileSync(join(folder, 'up.log'), log)
  writeFileSync(join(folder, 'conflicts', '2026', 'notes.txt'), 'the work of somebody')
}

describe('doctor without a cluster and without `up`', () => {
  test('doctor collects the log, the manifest and the ignore file, and reports missing parts', async () => {
    writeFileSync(project('devctl.yml'), MANIFEST)
    writeFileSync(project('.stignore'), 'node_modules\n')
    writeFileSync(project('.env'), 'A=value-of-dot-env\n')
    session('api', '2026-11-23 ready\n')
    const { status, stdout, stderr, zip, files, metadata } = await doctor()
    expect(status).toBe(0)
    expect(zip).toMatch(/^devctl-doctor-\d{14}\.zip$/)
    expect(stdout).toBe(`${project(zip!)}\n`)
    expect([...files.keys()].sort()).toEqual([
      'devctl.yml',
      'ignore/0.stignore',
      'metadata.json',
      'session-files.txt',
      'up.log',
    ])
    expect(files.get('up.log')).toBe('2026-11-23 ready\n')
    expect(files.get('ignore/0.stignore')).toContain('node_modules\n')
    expect(files.get('session-files.txt')).toContain(' conflicts/2026/notes.txt')
    expect([...files.values()].join()).not.toContain('the work of somebody')
    expect(metadata).toMatchObject({ dev: 'api', os: process.platform, node: process.version })
    if (process.platform === 'linux') expect(metadata.inotify.max_user_watches).toBeGreaterThan(0)
    expect(metadata.parts).toContainEqual({ name: 'cluster', files: 0, missing: expect.stringContaining('no context') })
    // Env files hold values, so the archive has none, and its list of parts says so.
    const missing = 'because `.env` and the files of `env_file` and `--env-file` hold values'
    expect(metadata.parts).toContainEqual({ name: 'env files', files: 0, missing })
    expect(stderr).toContain(`env files: left out, ${missing}\n`)
    expect([...files.values()].join()).not.toContain('value-of-dot-env')
    expect(stderr).toContain('cluster: left out, ')
    expect(statSync(project(zip!)).mode & 0o777).toBe(0o600)
  })

  test('doctor masks comments, secrets and values of the manifest', async () => {
    writeFileSync(project('devctl.yml'), MANIFEST)
    session('api', 'started with API_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz and my-own-secret-value\n')
    const { files } = await doctor([], { MY_PASSWORD: 'my-own-secret-value' })
    const all = [...files.values()].join('\n')
    for (const secret of [
      'in-a-comment',
      'visible-to-nobody',
      'hunter2',
      'given-to-the-build',
      'ghp_',
      'my-own-secret',
    ])
      expect(all).not.toContain(secret)
    expect(files.get('devctl.yml')).toContain('PLAIN=***')
    expect(files.get('devctl.yml')).toContain('ARG: "***"')
    expect(files.get('devctl.yml')).toContain('.:/app')
  })

  test('doctor collects and masks a Compose file without a manifest', async () => {
    const service = { image: 'api', environment: { KEY: 'hidden' }, labels: { team: 'shop' } }
    writeFileSync(project('compose.yaml'), JSON.stringify({ services: { api: service } }))
    const { files } = await doctor(['api'])
    expect(files.get('compose.yaml')).toContain('KEY: "***"')
    expect(files.get('compose.yaml')).toContain('team: shop')
    expect([...files.values()].join()).not.toContain('hidden')
  })

  test('doctor collects overrides, included and extended files, but no env file', async () => {
    mkdirSync(project('parts'))
    mkdirSync(project('sub'))
    const hidden = { environment: { KEY: 'hidden' } }
    writeFileSync(project('devctl.yml'), MANIFEST)
    writeFileSync(
      project('compose.yaml'),
      JSON.stringify({
        include: ['parts/cache.yaml'],
        services: { api: { extends: { file: 'sub/base.yml', service: 'base' }, env_file: ['api.env'] } },
      }),
    )
    writeFileSync(project('api.env'), 'OTHER=hidden\n')
    writeFileSync(project('compose.override.yaml'), JSON.stringify({ services: { api: hidden } }))
    writeFileSync(project('parts/cache.yaml'), JSON.stringify({ services: { cache: { image: 'redis:7', ...hidden } } }))
    writeFileSync(project('sub/base.yml'), JSON.stringify({ services: { base: { image: 'node:22', ...hidden } } }))
    const { files } = await doctor(['api'])
    expect([...files.keys()].filter(name => /\.(ya?ml|env)$/.test(name)).sort()).toEqual([
      'compose.override.yaml',
      'compose.yaml',
      'devctl.yml',
      'parts/cache.yaml',
      'sub/base.yml',
    ])
    expect(files.get('sub/base.yml')).toContain('node:22')
    expect([...files.values()].join()).not.toContain('hidden')
  })

  test('doctor collects the Compose files although one has an error', async () => {
    writeFileSync(project('compose.yaml'), 'services: {api: {image: [1]}}\ninclude: [absent.yaml]\n')
    writeFileSync(project('compose.override.yaml'), 'services: {api: {command: run}\n')
    const { status, files } = await doctor(['api'])
    expect(status).toBe(0)
    expect(files.get('compose.yaml')).toContain('absent.yaml')
    expect(files.has('compose.override.yaml')).toBe(true)
  })

  test('doctor collects a manifest with errors', async () => {
    writeFileSync(project('devctl.yml'), 'dev:\n  api: {sync: [], other: 1}\n')
    const { status, files } = await doctor(['api'])
    expect(status).toBe(0)
    expect(files.get('devctl.yml')).toMatch(/^# error\[\S+\]: /)
  })

  test('doctor works without a project', async () => {
    const { status, metadata } = await doctor()
    expect(status).toBe(0)
    expect(metadata.parts.map(({ name }: { name: string }) => name)).toContain('log of `up`')
  })

  test('doctor finds the log of `up` in the folder of XDG_STATE_HOME, and in an older `~/.devctl`', async () => {
    writeFileSync(project('devctl.yml'), MANIFEST)
    session('api', 'ready\n')
    const env = { DEVCTL_HOME: '', HOME: join(work, 'user'), XDG_STATE_HOME: join(work, 'state') }
    mkdirSync(env.HOME)
    mkdirSync(env.XDG_STATE_HOME)
    renameSync(join(work, 'home'), join(env.HOME, '.devctl'))
    const before = await doctor([], env)
    expect(before.files.get('up.log')).toBe('ready\n')
    rmSync(project(before.zip!))
    renameSync(join(env.HOME, '.devctl'), join(env.XDG_STATE_HOME, 'devctl'))
    expect((await doctor([], env)).files.get('up.log')).toBe('ready\n')
  })

  test('doctor collects sessions with the same name in two clusters', async () => {
    session('api', 'one\n', 'abc')
    session('api', 'two\n', 'def')
    const { files } = await doctor(['api'])
    expect([files.get('session-1/up.log'), files.get('session-2/up.log')].sort()).toEqual(['one\n', 'two\n'])
  })

  longTest('doctor keeps the end of a long log', async () => {
    const line = `${'x'.repeat(99)}\n`
    session('api', `${line.repeat(60_000)}the last line\n`)
    const { files } = await doctor(['api'])
    expect(files.get('up.log')!.length).toBeLessThanOrEqual(5_000_000)
    expect(files.get('up.log')).toMatch(/^x{99}\n(?:x{99}\n)+the last line\n$/)
  })

  test('doctor refuses an ambiguous container without a terminal', async () => {
    writeFileSync(project('devctl.yml'), 'dev:\n  api: {sync: [".:/a"]}\n  web: {sync: [".:/b"]}\n')
    const { status, stderr, zip } = await doctor()
    expect({ status, zip }).toEqual({ status: 1, zip: undefined })
    expect(stderr).toContain('there are 2 development containers: `api`, `web`')
  })

  test('doctor reports a folder that it cannot write to', async () => {
    rmSync(join(work, 'project'), { recursive: true })
    const { status, stderr } = await run(['doctor', 'api'], { cwd: join(work, 'project'), env: { DEVCTL_HOME: work } })
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('cannot write') })
  })
})

test('doctor collects the local parts although the cluster does not answer', async () => {
  const silent = createServer()
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as { port: number }
  writeFileSync(
    join(work, 'kubeconfig'),
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c', namespace: 'shop' } }],
      clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
      users: [{ name: 'c', user: { token: 'token-of-the-user' } }],
    }),
  )
  session('api', 'one\n')
  const start = Date.now()
  const { status, metadata, files } = await doctor(['api'])
  silent.close()
  expect(status).toBe(0)
  expect(Date.now() - start).toBeLessThan(30_000)
  expect(files.get('up.log')).toBe('one\n')
  const names = ['objects', 'events', 'logs of containers', 'permissions', 'speed of the connection']
  for (const name of names)
    expect(metadata.parts).toContainEqual({
      name,
      files: 0,
      missing: expect.stringMatching(/not done within|no connection to/),
    })
  expect([...files.values()].join()).not.toContain('token-of-the-user')
})

test('maskedObject masks values of variables, annotations and Secrets', () => {
  const object: KubeObject = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'api-dev',
      annotations: { note: 'secret' },
      managedFields: [{ manager: 'm', operation: 'Apply' }],
    },
    spec: {
      template: {
        metadata: { annotations: { 'vault/token': 'secret' } },
        spec: {
          containers: [
            {
              name: 'api',
              env: [
                { name: 'PLAIN', value: 'secret' },
                { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } },
              ],
            },
          ],
        },
      },
    },
  }
  const text = JSON.stringify(maskedObject(object))
  expect(text).not.toContain('"secret"')
  expect(text).not.toContain('managedFields')
  expect(text).toContain('{"name":"PLAIN","value":"***"}')
  expect(text).toContain('secretKeyRef')
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { key: 'c2VjcmV0' } }
  expect(maskedObject(secret)).toMatchObject({ data: { key: '***' } })
})
