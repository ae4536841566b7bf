import { expect, test } from 'vitest'
import { usableVariables } from '../../../../operations/commands/kept-variables.ts'
import { variablesHere } from '../../../../operations/develop/local-command.ts'

test('of the variables that are kept in the cluster, none is used that programs go by', () => {
  const told: string[] = []
  const kept = {
    COLOUR: 'blue',
    NODE_ENV: 'production',
    GIT_SHA: 'abc123',
    PYTHON_VERSION: '3.14',
    BASH_ENV: '$(touch pwned)',
    'BASH_FUNC_ls%%': '() { touch pwned; }',
    PATH: '/tmp/pwned',
    NODE_OPTIONS: '--require /tmp/pwned',
    GIT_CONFIG_COUNT: '1',
    DEVCTL_ALLOW_OUTSIDE: '/',
    ZERO: 'a\0b',
  }
  const used = usableVariables(kept, event => {
    if (event.type === 'warning') told.push(event.text)
  })
  expect(Object.keys(used)).toEqual(['COLOUR', 'NODE_ENV', 'GIT_SHA', 'PYTHON_VERSION'])
  expect(told).toHaveLength(7)
  expect(told.join()).not.toContain('pwned')
})

test('a program of this machine takes from a container what is no code here, and what its user has set', () => {
  const variables = {
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
  expect(variablesHere(variables, own)).toEqual({
    taken: { GREETING: 'hello', NODE_VERSION: '24.0.0', NODE_OPTIONS: '--enable-source-maps' },
    leftOut: ['LD_PRELOAD', 'BASH_ENV'],
  })
})
