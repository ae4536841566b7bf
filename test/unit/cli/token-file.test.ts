import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../../cli/commands.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { platformLaptop, TOKEN } from './platform-laptop.ts'

test('each command that takes a token as an argument also reads it from a file', () => {
  for (const { name, options } of commands) {
    const flags = Object.values(options).map(one => one.flags)
    if (flags.some(one => one.startsWith('--token '))) expect(flags, name).toContain('--token-file <path>')
    // Other options of secrets name a file, a variable or a Secret.
    expect(flags.filter(one => /<(token|password|secret)>/.test(one) && !one.startsWith('--token '))).toEqual([])
  }
})

describe('context use', () => {
  const loggedIn = (host: string) => ({
    status: 0,
    stdout: `Using context ann @ ${host}\n`,
    stderr: 'Logged in as ann\n',
  })

  test.each([
    ['a line break', '\n'],
    ['a line break of Windows', '\r\n'],
    ['no line break', ''],
  ])('--token-file reads a token with %s at its end', async (_, end) => {
    const { url, host, folder, stored, devctl } = await platformLaptop()
    write(folder, { 'token.txt': `${TOKEN}${end}` })
    chmodSync(join(folder, 'token.txt'), 0o600)
    expect(await devctl(`context use ${url} --token-file token.txt`)).toEqual(loggedIn(host))
    expect(stored()).toMatchObject({ current: url, contexts: { [url]: { token: TOKEN } } })
  })

  test.each(['--token-file', '--token'])('%s - reads standard input', async option => {
    const { url, host, folder, stored } = await platformLaptop()
    const options = { cwd: folder, env: { HOME: folder }, stdin: `${TOKEN}\n` }
    expect(await run(['context', 'use', url, option, '-'], options)).toEqual(loggedIn(host))
    expect(stored()).toMatchObject({ contexts: { [url]: { token: TOKEN } } })
  })

  test.skipIf(process.platform === 'win32').each([
    [0o644, '0644'],
    [0o620, '0620'],
  ])('a token file with mode %o is warned of once', async (mode, shown) => {
    const { url, host, folder, devctl } = await platformLaptop()
    write(folder, { 'token.txt': TOKEN })
    chmodSync(join(folder, 'token.txt'), mode)
    const warning = `warning: \`token.txt\` of \`--token-file\` has mode ${shown}: other users of this machine can use the token\n  = help: run \`chmod 600 token.txt\`\n`
    const result = await devctl(`context use ${url} --token-file token.txt`)
    expect(result).toEqual({ ...loggedIn(host), stderr: `${warning}Logged in as ann\n` })
  })

  test('--token-file works before the subcommand, and for the platform of the environment', async () => {
    const { url, host, folder, devctl } = await platformLaptop()
    write(folder, { 'token.txt': TOKEN })
    chmodSync(join(folder, 'token.txt'), 0o600)
    expect(await devctl(`context --token-file token.txt use ${url}`)).toEqual(loggedIn(host))
    expect(await devctl('context --token-file token.txt', { DEVCTL_URL: url })).toMatchObject({ status: 0 })
  })

  const URL = 'https://platform.example.com'
  test.each([
    [`${URL} --token-file gone.txt`, 1, '`gone.txt` of `--token-file` does not exist\n'],
    [`${URL} --token-file empty.txt`, 1, '`empty.txt` of `--token-file` is empty\n  = help: is the variable'],
    [`${URL} --token-file -`, 1, 'standard input of `--token-file` is empty\n  = help: is the variable'],
    [`${URL} --token -`, 1, 'standard input of `--token` is empty\n  = help: is the variable'],
    [`${URL} --token-file folder`, 1, '`folder` of `--token-file` is a folder\n'],
    [`${URL} --token-file /dev/zero`, 1, '`/dev/zero` of `--token-file` cannot be read: it is a device\n'],
    [`${URL} --token x --token-file y`, 2, '`--token` and `--token-file` cannot be combined\n  = help: remove one'],
    [`${URL} --token-file large.txt`, 1, '`large.txt` of `--token-file` has 70000 bytes, more than a token has\n'],
    ['kind --token-file empty.txt', 2, '`--token-file` is for platforms\n  = help: leave it out'],
  ])('`devctl context use %s` is refused', async (line, status, message) => {
    const folder = makeFolder({
      'empty.txt': '\n',
      'large.txt': 'x'.repeat(70_000),
      'folder/a': '',
      '.kube/config': 'contexts:\n  - { name: kind, context: { cluster: kind, user: kind } }\n',
    })
    const result = await run(['context', 'use', ...line.split(' ')], { cwd: folder, env: { HOME: folder } })
    expect(result).toMatchObject({ status, stdout: '' })
    expect(result.stderr).toContain(`error: ${message}`)
  })
})

test('a token that was read from a file is masked', async () => {
  const { folder, devctl } = await platformLaptop()
  write(folder, { 'token.txt': 'canary-of-a-token\n' })
  const { stderr } = await devctl(`context use https://127.0.0.1:9 --token-file ${join(folder, 'token.txt')} -vv`)
  expect(stderr).toContain('does not answer')
  expect(stderr).not.toContain('canary')
})
