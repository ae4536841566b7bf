import { describe, expect, test } from 'vitest'
import { composeBuildSpec } from '../../../../../compiler/compose/build-spec.ts'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { readProject } from '../../../../../compiler/compose/read-project.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { type BuildSpec, withExportedCache } from '../../../../../compiler/values/images/build-spec.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** Returns the build specs of the images of /project/compose.yaml, and the diagnostics. */
function specsOf(text: string, env: Readonly<Record<string, string>> = {}, profiles: readonly string[] = []) {
  const host = {
    ...memoryHost({ 'compose.yaml': text, '.env': 'FROM_DOTENV=dotenv\nBOTH=dotenv\n' }),
    environment: new Map(Object.entries(env)),
    variable: (name: string) => (name in env ? ({ value: env[name]!, source: 'shell' } as const) : undefined),
  }
  const reporter = new Reporter()
  const loaded = loadProject({ workingDirectory: '/project', profiles }, host, reporter)
  if (!loaded) throw new Error(JSON.stringify(reporter.diagnostics().map(({ message }) => message)))
  const project = readProject(loaded, host, reporter)
  const all = [...project.services.values(), ...project.contextServices.values()]
  const specs = Object.fromEntries(all.map(service => [service.name, composeBuildSpec(service, project, reporter)]))
  const messages = reporter.diagnostics().map(({ severity, code, message }) => `${severity} ${code}: ${message}`)
  return { specs, messages, project }
}

const web = (build: string, env?: Readonly<Record<string, string>>) =>
  specsOf(`services:\n  web:\n    build:\n${build.replace(/^/gm, '      ')}\n`, env)
const plain = ({ specs: { web } }: { readonly specs: Readonly<Record<string, BuildSpec | undefined>> }) => {
  const { contexts, args, labels, secrets, ssh, ...rest } = web!
  return {
    ...rest,
    contexts: Object.fromEntries(contexts),
    args: Object.fromEntries(args),
    labels: Object.fromEntries(labels),
    secrets: Object.fromEntries(secrets),
    ssh: Object.fromEntries(ssh),
  }
}

test('a short build has the defaults of Compose', () => {
  const { specs, messages } = specsOf('services: {web: {build: ./app, platform: linux/arm64}}')
  expect(messages).toEqual([])
  expect(plain({ specs })).toEqual({
    context: { folder: '/project/app' },
    dockerfile: { path: '/project/app/Dockerfile' },
    contexts: {},
    dependsOn: [],
    args: {},
    labels: {},
    // Docker Compose too builds for the platform that the service runs on.
    platforms: ['linux/arm64'],
    noCache: false,
    pull: false,
    extraHosts: [],
    ulimits: [],
    entitlements: [],
    cacheFrom: [],
    cacheTo: [],
    exportCache: [],
    secrets: {},
    ssh: {},
  })
})

test('every key of a build, except the names of the image, is part of the build spec', () => {
  const { specs, messages } = specsOf(
    `
services:
  web:
    build:
      context: https://github.com/example/app.git#main:web
      dockerfile: docker/Dockerfile
      target: prod
      args: [SHELL_VALUE, BOTH, FROM_DOTENV, UNSET, "LITERAL=$$HOME", "VALUE=a$BOTH"]
      additional_contexts:
        base: service:base
        image: docker-image://alpine:3.22
        files: ./files
        repository: git@github.com:example/more.git
      cache_from: [registry.example.com/web:cache, "type=local,src=./cache", "type=s3,region=eu,bucket=b"]
      cache_to: ['type=registry,ref=registry.example.com/web:cache,mode=max', "type=local,dest=./cache"]
      export_cache: registry.example.com/web:exported
      no_cache_filter: [deps]
      pull: true
      secrets: [npm_token, {source: netrc, target: machine}]
      ssh: [default, "deploy=~/.ssh/deploy", "both=~/.ssh/one,keys/two"]
      labels: [com.example.team=web, empty]
      tags: [registry.example.com/web:latest]
      platforms: [linux/amd64, linux/arm64/v8]
      network: host
      extra_hosts: ["db=192.0.2.1", "v6=[::1]"]
      shm_size: 64m
      ulimits: {nofile: {soft: 1024, hard: 2048}, core: 0, memlock: -1}
      privileged: true
      provenance: mode=max
      sbom: false
  base:
    profiles: [never]
    build: ./base
secrets:
  npm_token: {environment: NPM_TOKEN}
  netrc: {file: ./netrc}
`,
    { SHELL_VALUE: 'shell', BOTH: 'shell', NPM_TOKEN: 'hunter2' },
  )
  expect(messages).toEqual([])
  expect(plain({ specs })).toEqual({
    context: { remote: 'https://github.com/example/app.git#main:web' },
    dockerfile: { path: 'docker/Dockerfile' },
    contexts: {
      base: { service: 'base' },
      files: { folder: '/project/files' },
      image: { remote: 'docker-image://alpine:3.22' },
      repository: { remote: 'git@github.com:example/more.git' },
    },
    dependsOn: ['base'],
    target: 'prod',
    args: { SHELL_VALUE: 'shell', BOTH: 'shell', FROM_DOTENV: 'dotenv', LITERAL: '$HOME', VALUE: 'ashell' },
    labels: { 'com.example.team': 'web', empty: '' },
    platforms: ['linux/amd64', 'linux/arm64/v8'],
    noCache: ['deps'],
    pull: true,
    network: 'host',
    extraHosts: [
      { host: 'db', address: '192.0.2.1' },
      { host: 'v6', address: '::1' },
    ],
    shmSize: 67_108_864,
    ulimits: [
      { name: 'core', soft: 0, hard: 0 },
      { name: 'memlock', soft: -1, hard: -1 },
      { name: 'nofile', soft: 1024, hard: 2048 },
    ],
    entitlements: ['network.host', 'security.insecure'],
    provenance: 'mode=max',
    sbom: false,
    cacheFrom: [
      { type: 'registry', attributes: { ref: 'registry.example.com/web:cache' } },
      { type: 'local', attributes: { src: '/project/cache' } },
      { type: 's3', attributes: { region: 'eu', bucket: 'b' } },
    ],
    cacheTo: [
      { type: 'registry', attributes: { ref: 'registry.example.com/web:cache', mode: 'max' } },
      { type: 'local', attributes: { dest: '/project/cache' } },
    ],
    exportCache: ['registry.example.com/web:exported'],
    secrets: { npm_token: { value: 'hunter2' }, machine: { file: '/project/netrc' } },
    ssh: {
      default: [],
      deploy: ['/home/user/.ssh/deploy'],
      both: ['/home/user/.ssh/one', '/project/keys/two'],
    },
  })
  expect(specs.base).toMatchObject({ context: { folder: '/project/base' } })
})

describe('services as contexts', () => {
  const text = `
services:
  web: {build: {context: ., additional_contexts: {base: "service:base"}}}
  base: {profiles: [build], build: {context: base, additional_contexts: {tools: "service:tools"}}, ports: ["x"]}
  tools: {profiles: [build], image: registry.example.com/tools:1, build: tools}
  unused: {profiles: [build], build: unused}
`
  test('a service that is a context need not be active', () => {
    const { project, messages } = specsOf(text.replace(', ports: ["x"]', ''))
    expect(messages).toEqual([])
    expect([...project.services.keys()]).toEqual(['web'])
    expect([...project.contextServices.keys()]).toEqual(['base', 'tools'])
    expect(project.contextServices.get('tools')!.image!.value).toBe('registry.example.com/tools:1')
  })

  test('an active service is not a context service', () => {
    const { project } = specsOf(text.replace(', ports: ["x"]', ''), {}, ['build'])
    expect([...project.contextServices.keys()]).toEqual([])
  })
})

test('a build secret without a known value is reported when the image is built', () => {
  const { messages } = specsOf(`
services:
  web: {build: {context: ., secrets: [unset, elsewhere]}}
secrets:
  unset: {environment: NOT_SET}
  elsewhere: {external: true}
`)
  expect(messages).toEqual([
    'error build/secret-not-available: the build secret `unset` takes its value from `NOT_SET`, which is not set',
    'error build/secret-not-available: the build secret `elsewhere` is external, so its value is not known here',
  ])
})

test('an empty context is the folder of the project', () => {
  expect(web('context: ${UNSET:-}').specs.web!.context).toEqual({ folder: '/project' })
})

test('dockerfile_inline is the text of the Dockerfile', () => {
  expect(web('dockerfile_inline: FROM scratch').specs.web!.dockerfile).toEqual({ text: 'FROM scratch' })
})

test('provenance and sbom accept the words of Docker', () => {
  expect(plain(web('provenance: true\nsbom: "1"'))).toMatchObject({ provenance: '', sbom: '' })
  expect(plain(web('provenance: disabled=true\nsbom: false'))).toMatchObject({ provenance: false, sbom: false })
  expect(plain(web('provenance: "mode=min,reproducible=true"'))).toMatchObject({
    provenance: 'mode=min,reproducible=true',
  })
})

test('an exported cache with the name of the image is stored inside the image', () => {
  const spec = { cacheTo: [], exportCache: ['registry.example.com/web:1', 'registry.example.com/web:cache'] }
  expect(withExportedCache(spec, ['registry.example.com/web:1'])).toEqual([
    { type: 'inline', attributes: {} },
    { type: 'registry', attributes: { ref: 'registry.example.com/web:cache', mode: 'max' } },
  ])
})

test('a build secret that is given in another way needs no value', () => {
  const { project } = specsOf(
    'services: {web: {build: {context: ., secrets: [token, key]}}}\nsecrets: {token: {environment: NOT_SET}, key: {environment: NOT_SET}}',
  )
  const reporter = new Reporter()
  composeBuildSpec(project.services.get('web')!, project, reporter, new Set(['token']))
  expect(reporter.diagnostics().map(({ message }) => message)).toEqual([
    'the build secret `key` takes its value from `NOT_SET`, which is not set',
  ])
})

test('DOCKER_DEFAULT_PLATFORM is the platform of builds that set none', () => {
  const env = { DOCKER_DEFAULT_PLATFORM: 'linux/arm64' }
  const platforms = (services: string, variables: Readonly<Record<string, string>> = env) => {
    const { specs, messages } = specsOf(`services:\n  web: ${services}\n`, variables)
    return [specs['web']?.platforms, messages]
  }
  expect(platforms('{build: .}')).toEqual([['linux/arm64'], []])
  expect(platforms('{build: {context: ., platforms: [linux/amd64]}}')).toEqual([['linux/amd64'], []])
  expect(platforms('{build: ., platform: linux/amd64}')).toEqual([['linux/amd64'], []])
  expect(platforms('{build: .}', { DOCKER_DEFAULT_PLATFORM: '' })).toEqual([[], []])
  expect(platforms('{image: x}', { DOCKER_DEFAULT_PLATFORM: '?' })).toEqual([undefined, []])
  expect(platforms('{build: .}', { DOCKER_DEFAULT_PLATFORM: '?' })).toEqual([
    [],
    ['error build/bad-value: `DOCKER_DEFAULT_PLATFORM` is `?`: it is not a platform'],
  ])
})
