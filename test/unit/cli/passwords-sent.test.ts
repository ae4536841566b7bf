import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import { forgeServer } from '../../support/gitops/forge/forge-server.ts'

// Input that devctl refuses before it sends a platform a password or any other request.

const folder = mkdtempSync(join(tmpdir(), 'devctl-passwords-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function devctl(...words: readonly string[]) {
  const platform = await forgeServer()
  let written = ''
  let read = 0
  const output = {
    isTTY: false,
    write: (text: string) => {
      written += text
    },
  }
  const status = await main([...words], {
    stdout: output,
    stderr: output,
    readStdin: async () => {
      read++
      return new TextEncoder().encode('canary')
    },
    env: { DEVCTL_HOME: folder, DEVCTL_URL: platform.url, DEVCTL_TOKEN: 'x', DEVCTL_NAMESPACE: 'ann' },
    cwd: folder,
  })
  return { status, written, read, calls: platform.calls() }
}

describe.each([
  ['pipeline', 'deploy', '--name', 'shop'],
  ['preview', 'deploy', 'shop'],
  ['preview', 'destroy'],
  ['preview', 'endpoints'],
])('`devctl %s %s`', (...words) => {
  test.each([
    'https://ann:canary@git.example.com/team/shop',
    'https://canary@git.example.com/team/shop',
    'HTTP://ann:canary@git.example.com/team/shop',
    'ssh://git:canary@git.example.com/team/shop',
    'https://ann:can/ary@git.example.com/team/shop',
  ])('the command does not send a password: %s', async repository => {
    const { status, written, calls } = await devctl(...words, '--repository', repository)
    expect([status, calls]).toEqual([2, []])
    expect(written).toContain('error: the address of `--repository` has a user or a password\n')
    expect(written).toContain('`devctl credentials set HOST`')
    expect(written).not.toMatch(/canary|ary@/)
  })
})

test('a preview does not send the password of a pull request either', async () => {
  const page = 'https://ann:canary@git.example.com/team/shop/pull/7'
  const words = ['preview', 'deploy', '--repository', 'https://git.example.com/team/shop', '--sourceUrl', page]
  expect(await devctl(...words)).toMatchObject({
    status: 2,
    calls: [],
    written: expect.stringContaining('`--source-url`'),
  })
})

test.each([
  'https://git.example.com/team/shop',
  'ssh://git@git.example.com/team/shop',
  'git@git.example.com:team/shop',
])('an address without a password is sent: %s', async repository => {
  const { calls } = await devctl('pipeline', 'deploy', '--name', 'shop', '--repository', repository)
  expect(calls[0]).toBe('POST /api/v1/runs')
})

test.each(['../../x', 'git example com', '', 'git_example', 'git.example.com:0', 'git.example.com/team', '-x'])(
  'no password is read for %j',
  async host => {
    for (const words of [
      ['set', '--', host],
      ['unset', '--', host],
    ]) {
      const { status, read, written, calls } = await devctl('credentials', ...words)
      expect([status, read, calls]).toEqual([2, 0, []])
      expect(written).toContain('is not a host of a forge')
    }
  },
)
