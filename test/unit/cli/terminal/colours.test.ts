import { expect, test } from 'vitest'
import { main } from '../../../../cli/main.ts'
import { wantsColour } from '../../../../cli/terminal/io.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { run } from '../../../support/run.ts'

const BAD = 'services:\n  web:\n    image: nginx:1.27\n    imagee: x\n'
const OTHER = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n'
const ESCAPE = '\x1b['

test.each<readonly [isTTY: boolean, env: Readonly<Record<string, string>>, messages: boolean, results: boolean]>([
  [true, {}, true, true],
  [false, {}, false, false],
  [true, { NO_COLOR: '1' }, false, false],
  [true, { CLICOLOR: '0' }, false, false],
  [true, { TERM: 'dumb' }, false, false],
  [true, { CI: '1' }, false, false],
  [false, { FORCE_COLOR: '1' }, true, true],
  [true, { FORCE_COLOR: '0' }, false, false],
  [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true, true],
  [false, { CLICOLOR_FORCE: '1' }, true, true],
  [true, { CLICOLOR_FORCE: '0' }, false, false],
  [false, { CLICOLOR_FORCE: '1', NO_COLOR: '1' }, false, false],
  [false, { CI: 'true', GITHUB_ACTIONS: 'true', TERM: 'dumb' }, true, false],
  [false, { CI: 'true', GITLAB_CI: 'true' }, true, false],
  [false, { CI: 'true', GITLAB_CI: 'true', NO_COLOR: '1' }, false, false],
  [false, { CI: 'true', GITHUB_ACTIONS: 'true', FORCE_COLOR: '1' }, true, true],
])('on a terminal (%s) with %j, messages have colors: %s, and results: %s', (isTTY, env, messages, results) => {
  const write = () => {}
  expect(wantsColour({ isTTY, isForMessages: true, write }, env)).toBe(messages)
  expect(wantsColour({ isTTY, write }, env)).toBe(results)
})

test('diagnostics have colors in the log of a CI system, and annotations have none', async () => {
  let text = ''
  const stderr = { isTTY: false, isForMessages: true, write: (part: string) => (text += part) }
  await main(['validate'], {
    stdout: { isTTY: false, write: () => {} },
    stderr,
    readStdin: async () => new Uint8Array(),
    env: { CI: 'true', GITHUB_ACTIONS: 'true' },
    cwd: makeFolder({ 'compose.yaml': BAD }),
  })
  expect(text).toContain(`${ESCAPE}`)
  expect(text).toMatch(/^::error file=compose\.yaml,/m)
  expect(/^::.*$/m.exec(text)![0]).not.toContain(ESCAPE)
})

test.each([
  'render',
  'render -o json',
  'config',
  'config -o json',
  'config --services',
  'validate -o json',
  'validate -o sarif',
  'diff --against k8s -o json',
  'context list -o json',
  'version -o json',
])('`devctl %s` has no colors on standard output, whatever the environment says', async line => {
  const cwd = makeFolder({
    'compose.yaml': 'name: app\nservices:\n  web:\n    image: nginx:1.27\n',
    'k8s/a.yaml': OTHER,
  })
  const env = { FORCE_COLOR: '1', CLICOLOR_FORCE: '1', HOME: cwd }
  const { stdout } = await run(line.split(' '), { cwd, env })
  expect(stdout).not.toBe('')
  expect(stdout).not.toContain(ESCAPE)
})
