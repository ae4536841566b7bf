import { describe, expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { manifestBuildSpec } from '../../../../compiler/manifest/build-spec.ts'
import { readManifest } from '../../../../compiler/manifest/read.ts'
import { memoryHost } from '../../../support/plan/compose.ts'

/** Returns the build spec of the image `web` of a manifest, and the diagnostics. */
function specOf(
  build: string,
  { env = {}, files = {}, built = {} }: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
) {
  const text = `build:\n  base: ./base\n  web:\n${build.replace(/^(?=.)/gm, '    ')}\n`
  const host = {
    ...memoryHost({ 'devctl.yml': text, 'web/': '', ...files }),
    environment: new Map(Object.entries(env)),
    variable: (name: string) => (name in env ? ({ value: env[name]!, source: 'shell' } as const) : undefined),
  }
  const { manifest, diagnostics, secrets } = readManifest(
    { path: '/project/devctl.yml', workingDirectory: '/project' },
    host,
  )
  expect(diagnostics.map(({ message }) => message)).toEqual([])
  const reporter = new Reporter()
  const world = { manifest: manifest!, host, built: new Map(Object.entries(built)) }
  const spec = manifestBuildSpec(manifest!.build.get('web')!, world, reporter)
  return { spec, secrets, messages: reporter.diagnostics().map(({ severity, message }) => `${severity}: ${message}`) }
}

test('the build spec of an image has the attributes of the manifest', () => {
  const { spec, messages, secrets } = specOf(
    `context: web
dockerfile: Dockerfile.prod
target: production
image: registry.example.com/web:1
args: {VERSION: "2"}
cache_from: [registry.example.com/web:cache, "type=local,src=cache"]
export_cache: [registry.example.com/web:cache, "type=local,dest=cache"]
secrets: {npm: ~/.npmrc, key: {file: key.pem}, token: {env: TOKEN}}
depends_on: base`,
    { env: { TOKEN: 'hunter2' }, files: { '/home/user/.npmrc': '', 'key.pem': '' } },
  )
  expect(messages).toEqual([])
  expect(spec).toMatchObject({
    context: { folder: '/project/web' },
    dockerfile: { path: '/project/web/Dockerfile.prod' },
    dependsOn: ['base'],
    target: 'production',
    args: new Map([['VERSION', '2']]),
    cacheFrom: [
      { type: 'registry', attributes: { ref: 'registry.example.com/web:cache' } },
      { type: 'local', attributes: { src: '/project/cache' } },
    ],
    cacheTo: [{ type: 'local', attributes: { dest: '/project/cache' } }],
    exportCache: ['registry.example.com/web:cache'],
    secrets: new Map([
      ['npm', { file: '/home/user/.npmrc' }],
      ['key', { file: '/project/key.pem' }],
      ['token', { value: 'hunter2' }],
    ]),
  })
  expect([...secrets!.values]).toContain('hunter2')
})

test('a Dockerfile named `dockerfile` is used where no other exists', () => {
  expect(specOf('context: web', { files: { 'web/dockerfile': 'FROM x' } }).spec).toMatchObject({
    dockerfile: { path: '/project/web/dockerfile' },
  })
})

test('a git repository is a context that contains the Dockerfile', () => {
  const { spec } = specOf('context: https://example.com/web.git#main\ndockerfile: docker/Dockerfile')
  expect(spec).toMatchObject({
    context: { remote: 'https://example.com/web.git#main' },
    dockerfile: { path: 'docker/Dockerfile' },
  })
})

test('variables of images that are built before are arguments and are substituted', () => {
  const built = { DEVCTL_BUILD_BASE_IMAGE: 'registry.example.com/base@sha256:1', DEVCTL_BUILD_BASE_TAG: '1' }
  const { spec } = specOf(
    'context: .\ndepends_on: [base]\nargs:\n- FROM=${DEVCTL_BUILD_BASE_IMAGE}\n- DEVCTL_BUILD_BASE_TAG=other',
    { built },
  )
  expect(Object.fromEntries(spec.args)).toEqual({ FROM: built.DEVCTL_BUILD_BASE_IMAGE, ...built })
})

test('a context that does not exist is an error', () => {
  expect(specOf('context: gone').messages).toEqual(['error: the build context `gone` is not a folder'])
})

test('a secret whose variable is not set is an error', () => {
  const { spec, messages } = specOf('context: .\nsecrets: {token: {env: TOKEN}}')
  expect(messages).toEqual(['error: the build secret `token` takes its value from `TOKEN`, which is not set'])
  expect(spec.secrets.size).toBe(0)
})

describe('dockerfile', () => {
  const build = 'context: web\ndockerfile: docker/Dockerfile'
  const [inContext, beside] = [{ 'web/docker/Dockerfile': '' }, { 'docker/Dockerfile': '' }]

  test.each([
    ['of the context', inContext, '/project/web/docker/Dockerfile', undefined],
    ['beside the manifest', beside, '/project/docker/Dockerfile', 'is not in the build context; that'],
    ['in both', { ...inContext, ...beside }, '/project/web/docker/Dockerfile', 'exists in the build context and'],
    ['in neither', {}, '/project/web/docker/Dockerfile', undefined],
  ])('the path of a Dockerfile is resolved: %s', (_, files, path, warning) => {
    const { spec, messages } = specOf(build, { files })
    expect(spec.dockerfile).toEqual({ path })
    expect(messages).toEqual(warning === undefined ? [] : [expect.stringContaining(warning)])
  })
})
