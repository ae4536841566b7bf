import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../../support/run.ts'

// Tests of `devctl variables` before the first request; test/api/platform/variables-command.test.ts has the others.

const folder = mkdtempSync(join(tmpdir(), 'devctl-variables-'))
const PLATFORM = { DEVCTL_URL: 'http://127.0.0.1:9', DEVCTL_TOKEN: 'x' }

beforeAll(() => {
  const kubeconfig = {
    contexts: [{ name: 'kind-dev', context: { cluster: 'a', user: 'a' } }],
    'current-context': 'kind-dev',
  }
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(kubeconfig))
  writeFileSync(join(folder, 'bad.env'), 'GOOD=1\nA="canary\n')
  writeFileSync(join(folder, 'code.env'), 'GOOD=1\nNODE_OPTIONS=--require ./x.js\n')
  writeFileSync(join(folder, 'empty.env'), '# nothing\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

const devctl = (words: readonly string[], env: Readonly<Record<string, string>> = PLATFORM, stdin = '') =>
  run(['variables', ...words], {
    cwd: folder,
    env: { DEVCTL_HOME: join(folder, 'home'), KUBECONFIG: join(folder, 'kubeconfig'), ...env },
    stdin,
  })

test.each([[['list']], [['set', 'A=1']], [['unset', 'A']], [[]]])(
  'variables %j fails without a platform, and names other ways to set variables',
  async words => {
    expect(await devctl(words, {})).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'error: `devctl variables` needs a platform; `kind-dev` is a context of the kubeconfig\n  = help: set variables in the shell, in `.env` beside the Compose file, or with `--var`\n',
    })
  },
)

test.each([
  [['set'], 'which variable?', 'name it'],
  [['set', '--user', '--admin', 'A=1'], '`--user` and `--admin` cannot be combined', ''],
  [['list', '--user', '-n', 'shop'], '`--namespace` and `--user` cannot be combined', ''],
  [['set', 'A', 'B'], 'standard input has one value, but there are 2 names', 'add `--file`'],
  [['set', 'NODE_OPTIONS=x'], 'cannot be called `NODE_OPTIONS`', 'in `.env`'],
  [['set', '--file', 'code.env'], 'cannot be called `NODE_OPTIONS`', 'in `.env`'],
  [['set', '1=x'], 'cannot be called `1`', ''],
  [['set', '--file', 'none.env'], '`none.env` cannot be read: it does not exist', ''],
  [['set', '--file', 'empty.env'], '`empty.env` has no variables', 'NAME=value'],
  [['set', '--file', 'bad.env'], 'nothing was set', 'bad.env:2'],
])('variables %j is refused before a request is sent', async (words, message, hint) => {
  const { status, stdout, stderr } = await devctl(words)
  expect(status).toBeGreaterThan(0)
  expect(stdout).toBe('')
  expect(stderr).toContain(message)
  expect(stderr).toContain(hint)
  expect(stderr).not.toContain('does not answer')
})

test('variables set does not take an empty line on standard input for an empty value', async () => {
  expect((await devctl(['set', 'A'], PLATFORM, '\n')).stderr).toContain('for an empty one, write `A=`')
})

test('variables set warns about a secret in its arguments, and prints no value', async () => {
  const { stderr } = await devctl(['set', 'DB_PASSWORD=canary-1', 'GREETING=canary-2'])
  expect(stderr).toContain('warning: the value of `DB_PASSWORD` is now in the history of your shell')
  expect(stderr).not.toMatch(/canary|GREETING/)
  expect(stderr).toContain('does not answer')
})
