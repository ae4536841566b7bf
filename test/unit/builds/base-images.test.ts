import { describe, expect, test } from 'vitest'
import type { BuildOverrides } from '../../../compiler/values/dockerfile/dockerfile-images.ts'
import { compileFiles } from '../../../project/compile-files.ts'
import { type Workspace, workspaceOf } from '../../../project/workspace.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const BASE = 'registry.example.com/base:1'
const DOCKERFILE = 'ARG BASE=scratch\nFROM ${BASE}\n'

interface Built {
  /** The keys of `build` besides the context. */
  readonly build?: string
  readonly dockerfile?: string
  readonly service?: string
  readonly env?: Readonly<Record<string, string>>
  readonly dotenv?: string
  readonly platformVariables?: Workspace['platformVariables']
  readonly overrides?: BuildOverrides
}

/** The services that `app` is built on, because its Dockerfile names their images. */
async function basesOf(built: Built) {
  const {
    build = '',
    dockerfile = DOCKERFILE,
    service = '',
    dotenv = '',
    env = {},
    overrides,
    platformVariables,
  } = built
  const cwd = makeFolder({
    '.env': dotenv,
    'compose.yaml': `services:
  base: {image: "${BASE}", build: ./base}
  arm: {image: registry.example.com/base-arm64, build: ./base}
  app: {image: registry.example.com/app:1${service}, build: {context: ./app${build}}}
`,
    'base/Dockerfile': 'FROM scratch\n',
    'app/Dockerfile': dockerfile,
  })
  const workspace = { ...workspaceOf({ cwd, env }), ...(platformVariables && { platformVariables }) }
  const extra = { forBuild: 'build', ...(overrides && { buildOverrides: overrides }) } as const
  const { project } = await compileFiles(workspace, [], {}, {}, extra)
  return project?.services.get('app')?.build?.additionalContexts.flatMap(one => one.service ?? [])
}

describe('images that are built on the image of another service', () => {
  const args = (value = BASE) => new Map([['BASE', value]])

  test.each<[string, Built]>([
    ['an argument of the file', { build: `, args: {BASE: "${BASE}"}` }],
    ['an argument of the file as a list', { build: `, args: ["BASE=${BASE}"]` }],
    ['an argument of the shell', { build: ', args: [BASE]', env: { BASE } }],
    ['an argument of `.env`', { build: ', args: [BASE]', dotenv: `BASE=${BASE}\n` }],
    ['an argument of the platform', { build: ', args: [BASE]', platformVariables: new Map([['BASE', BASE]]) }],
    ['a variable of the platform', { build: ', args: {BASE: "$B"}', platformVariables: new Map([['B', BASE]]) }],
    ['an argument of the command line', { overrides: { args: args() } }],
    ['one over the file', { build: ', args: {BASE: other}', overrides: { args: args() } }],
  ])('a Dockerfile names the base image with %s', async (_, built) => expect(await basesOf(built)).toEqual(['base']))

  test('an argument of the command line replaces the base image in the file', async () => {
    const build = `, args: {BASE: "${BASE}"}`
    expect(await basesOf({ build, overrides: { args: args('other') } })).toEqual([])
  })

  test('the base image is that of the stage on the command line', async () => {
    const dockerfile = `FROM ${BASE} AS one\nFROM scratch AS two\n`
    expect(await basesOf({ dockerfile })).toEqual([])
    expect(await basesOf({ dockerfile, overrides: { target: 'one' } })).toEqual(['base'])
    expect(await basesOf({ dockerfile, build: ', target: one', overrides: { target: 'two' } })).toEqual([])
  })

  test.each<[string, Built]>([
    ['`platforms` of the build', { build: ', platforms: [linux/amd64, linux/arm64]' }],
    ['`platform` of the service', { service: ', platform: linux/arm64' }],
    ['DOCKER_DEFAULT_PLATFORM', { env: { DOCKER_DEFAULT_PLATFORM: 'linux/arm64' } }],
    ['the command line', { service: ', platform: linux/amd64', overrides: { platforms: ['linux/arm64'] } }],
  ])('the base image is that for the platform of %s', async (_, built) => {
    const dockerfile = 'FROM registry.example.com/base-$TARGETARCH\n'
    expect(await basesOf({ dockerfile, ...built })).toEqual(['arm'])
    expect(await basesOf({ dockerfile, ...built, overrides: { platforms: ['linux/amd64'] } })).toEqual([])
  })
})

test('build finds a cycle of images that `--build-arg` causes, with a value or from the shell', async () => {
  const compose = (keys = '') => ({
    'compose.yaml': `services:
  base: {image: "${BASE}", build: ./base}
  app: {image: "registry.example.com/app:1", build: {context: ./app${keys}}}
`,
    'base/Dockerfile': 'FROM registry.example.com/app:1\n',
    'app/Dockerfile': DOCKERFILE,
  })
  const env = { BUILDKIT_HOST: 'tcp://127.0.0.1:9', CI: '1' }
  const build = async (words: readonly string[], more: Readonly<Record<string, string>> = {}, keys = '') =>
    (await run(['build', '--push=false', ...words], { cwd: makeFolder(compose(keys)), env: { ...env, ...more } }))
      .stderr
  expect(await build([])).not.toContain('cycle')
  expect(await build(['--build-arg', `BASE=${BASE}`])).toMatch(/in a cycle|each other/)
  expect(await build(['--build-arg', 'BASE'], { BASE })).toMatch(/in a cycle|each other/)
  expect(await build(['--build-arg', 'BASE=busybox'], {}, `, args: {BASE: "${BASE}"}`)).not.toContain('cycle')
})
