import { expect, test } from 'vitest'
import { usableVariables } from '../../../commands/kept-variables.ts'
import { variablesHere } from '../../../develop/exec/local-command.ts'

test('usableVariables takes kept variables that the manifest names and that run no code', () => {
  const told: string[] = []
  const kept = {
    COLOUR: 'blue',
    FLASK_APP: 'subprocess:getoutput("touch pwned")',
    MAKE: 'touch pwned',
    NODE_ENV: 'production',
    GIT_SHA: 'abc123',
    PYTHON_VERSION: '3.14',
    GIT_COMMIT_SHA: 'abc123',
    USE_BAZEL_VERSION: 'evil/1.0.0',
    BASH_ENV: '$(touch pwned)',
    'BASH_FUNC_ls%%': '() { touch pwned; }',
    PATH: '/tmp/pwned',
    NODE_OPTIONS: '--require /tmp/pwned',
    GIT_CONFIG_COUNT: '1',
    DEVCTL_ALLOW_OUTSIDE: '/',
    ZERO: 'a\0b',
  }
  const versions = ['GIT_SHA', 'PYTHON_VERSION', 'GIT_COMMIT_SHA', 'USE_BAZEL_VERSION']
  const named = new Set(['COLOUR', 'NODE_ENV', ...versions, 'PATH', 'NODE_OPTIONS'])
  const { taken, unnamed } = usableVariables(kept, named, event => {
    if (event.type === 'warning') told.push(event.text)
  })
  expect(Object.keys(taken)).toEqual(['COLOUR', 'NODE_ENV', 'GIT_SHA', 'PYTHON_VERSION', 'GIT_COMMIT_SHA'])
  expect(unnamed).toEqual(['FLASK_APP', 'MAKE'])
  expect(told).toHaveLength(8)
  expect(told.join()).not.toContain('pwned')
})

test('variablesHere takes named variables that run no code, and those that the user has set', () => {
  const variables = {
    FLASK_APP: 'subprocess:getoutput("touch pwned")',
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    REDIS_SERVICE_HOST: '10.0.0.2',
    REDIS_PORT: 'tcp://10.0.0.2:6379',
    DB_PORT: '5432',
    GREETING: 'hello',
    NODE_VERSION: '24.0.0',
    LD_PRELOAD: '/tmp/pwned.so',
    NODE_OPTIONS: '--enable-source-maps',
    BASH_ENV: '$(touch pwned)',
  }
  const own = [
    { name: 'NODE_OPTIONS', value: '--enable-source-maps' },
    { name: 'BASH_ENV', value: 'own.sh' },
  ]
  const named = new Set(['GREETING', 'NODE_VERSION', 'LD_PRELOAD'])
  expect(variablesHere(variables, own, named)).toEqual({
    taken: { GREETING: 'hello', NODE_VERSION: '24.0.0', NODE_OPTIONS: '--enable-source-maps' },
    leftOut: ['FLASK_APP', 'DB_PORT', 'LD_PRELOAD', 'BASH_ENV'],
  })
})
