import { expect, test } from 'vitest'
import type { ManifestDependency } from '../../../../compiler/manifest/manifest.ts'
import { ownOptions, ownWorkspace } from '../../../../operations/deploy/dependencies.ts'

const dependency = { name: 'login', variables: [{ name: 'MODE', value: 'test' }] } as unknown as ManifestDependency

test('the variables that select files of the project do not apply to a dependency', () => {
  const env = {
    COMPOSE_FILE: 'compose.yaml:compose.dev.yaml',
    COMPOSE_ENV_FILES: 'prod.env',
    COMPOSE_PROFILES: 'tools',
    COMPOSE_PROJECT_NAME: 'shop',
    COMPOSE_PATH_SEPARATOR: ':',
    PATH: '/bin',
    MODE: 'live',
  }
  const workspace = { cwd: '/shop', env, readStdin: async () => new Uint8Array() }
  expect(ownWorkspace(workspace, dependency, '/clone')).toMatchObject({ cwd: '/clone' })
  expect(ownWorkspace(workspace, dependency, '/clone').env).toEqual({ PATH: '/bin', MODE: 'test' })
})

test('the options that select files and services of the project do not apply to a dependency', () => {
  const options = { file: ['a.yaml'], envFile: ['b.env'], profile: ['tools'], environment: 'x', projectDirectory: '/a' }
  const own = ownOptions(options, dependency)
  for (const key of Object.keys(options)) expect(own[key as keyof typeof options], key).toBeUndefined()
})
