import { describe, expect, test } from 'vitest'
import type { StoredContext } from '../../../project/contexts/store.ts'
import { openProject } from '../../../project/open-project.ts'
import type { OpenProject } from '../../../project/opened-project.ts'
import { chooseTargetDefaults } from '../../../project/target-defaults.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const MANIFEST = `domain: top.example.com
registry: top.example.com/r
environments:
  staging: {domain: staging.example.com}
  plain: {}
`
const COMPOSE = 'name: shop\nservices:\n  web: {build: ., ports: ["80:80"]}\n'

async function opened(manifest: string, environment?: string): Promise<OpenProject> {
  const cwd = makeFolder({ 'devctl.yml': manifest, 'compose.yaml': COMPOSE })
  const output = { isTTY: false, write() {} }
  const io = { cwd, env: {}, stdout: output, stderr: output, readStdin: async () => new Uint8Array() }
  const none = {
    file: undefined,
    projectDirectory: undefined,
    envFile: undefined,
    profile: undefined,
    allowOutside: false,
  }
  return openProject(io, { ...none, environment })
}

const EMPTY = 'environments: {staging: {}}\n'
const env = { DEVCTL_DOMAIN: 'env.example.com', DEVCTL_REGISTRY: 'env.example.com/r' }
const stored = { name: 'kind', domain: 'context.example.com', registry: 'context.example.com/r' }
const given = { domain: 'option.example.com', registry: 'option.example.com/r' }
const none = { domain: undefined, registry: undefined }

describe('the domain and the registry of a deploy', () => {
  test.each([
    ['options', given, MANIFEST, 'staging', env, stored, ['option.example.com', 'option.example.com/r']],
    [
      'the environment, and then the top level',
      none,
      MANIFEST,
      'staging',
      env,
      stored,
      ['staging.example.com', 'top.example.com/r'],
    ],
    ['the top level', none, MANIFEST, 'plain', env, stored, ['top.example.com', 'top.example.com/r']],
    ['variables', none, EMPTY, 'staging', env, stored, ['env.example.com', 'env.example.com/r']],
    ['the context', none, EMPTY, 'staging', {}, stored, ['context.example.com', 'context.example.com/r']],
    [
      'an empty variable counts as none',
      none,
      EMPTY,
      'staging',
      { DEVCTL_DOMAIN: '' },
      stored,
      ['context.example.com', 'context.example.com/r'],
    ],
    ['nowhere', none, EMPTY, 'staging', {}, { name: 'kind' }, [undefined, undefined]],
  ] as const)('domain and registry come from: %s', async (_, options, manifest, environment, env, stored, expected) => {
    const project = await opened(manifest, environment)
    const { domain, registry } = chooseTargetDefaults({ env }, options, project, { stored, context: 'kind' })
    expect([domain, registry]).toEqual(expected)
  })

  test('the registry of a platform is used last', async () => {
    const platformImages = { name: 'images.example.com/ann', login: async () => undefined }
    const project = await opened(EMPTY)
    const of = (record: StoredContext) =>
      chooseTargetDefaults({ env: {}, platformImages }, none, project, {
        stored: record,
        context: 'https://p.example.com',
      })
    expect(of({ name: 'x' })).toMatchObject({ registry: 'images.example.com/ann', registryFrom: 'the platform' })
    expect(of(stored)).toMatchObject({ registry: 'context.example.com/r' })
  })

  test('an invalid value is refused with its source', async () => {
    const project = await opened(EMPTY)
    const at = (env: object, domain?: string) => () =>
      chooseTargetDefaults({ env: { ...env } }, none, project, {
        stored: { name: 'kind', ...(domain !== undefined && { domain }) },
        context: 'kind',
      })
    expect(at({ DEVCTL_DOMAIN: 'https://x' })).toThrow('`DEVCTL_DOMAIN` is `https://x`')
    expect(at({ DEVCTL_REGISTRY: 'A/B' })).toThrow('`DEVCTL_REGISTRY` is `A/B`')
    expect(at({}, '-a')).toThrow('`domain of the context kind` is `-a`')
  })
})

test('render uses the manifest, and never a context or the domain of the shell', async () => {
  const cwd = makeFolder({ 'devctl.yml': MANIFEST, 'compose.yaml': COMPOSE, Dockerfile: 'FROM scratch\n' })
  const render = async (...args: readonly string[]) => (await run(['render', ...args], { cwd, env })).stdout
  const plain = await render()
  expect(plain).toContain('host: web-shop.top.example.com')
  expect(plain).toContain('image: top.example.com/r/shop-web:')
  const staging = await render('--environment', 'staging', '--registry', 'option.example.com/r')
  expect(staging).toContain('host: web-shop.staging.example.com')
  expect(staging).toContain('image: option.example.com/r/shop-web:')
  write(cwd, { 'devctl.yml': 'name: shop\n' })
  const bare = await render()
  expect(bare).toContain('host: web-shop.local.devctl')
  expect(bare).toContain('image: env.example.com/r/shop-web:')
})
