import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentAt, agentMessages, type SshAgent } from '../../../adapters/buildkit/ssh/agent.ts'
import { openAgents } from '../../../adapters/buildkit/ssh/open-agents.ts'
import { string } from '../../../adapters/buildkit/ssh/wire.ts'
import { findSshd, sshServer } from '../../support/git/ssh-server.ts'
import { lacks } from '../../support/lacks.ts'
import { few } from '../../support/takes-all.ts'

const run = promisify(execFile)

/** The kinds of keys, and the forms of files, that `ssh-keygen` writes. */
const KINDS = [
  ['ed25519', []],
  ['rsa', ['-b', '2048', '-m', 'PKCS8']],
  ['ecdsa', ['-b', '256']],
  ['rsa', ['-b', '2048']],
  ['rsa', ['-b', '2048', '-m', 'PEM']],
  ['ecdsa', ['-b', '384']],
  ['ecdsa', ['-b', '521']],
  ['ecdsa', ['-b', '521', '-m', 'PEM']],
  ['ecdsa', ['-b', '256', '-m', 'PKCS8']],
] as const

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'devctl-ssh-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Creates a pair of keys, and returns the path of the private one. */
function keyOf(name: string, type: string, options: readonly string[] = [], passphrase = ''): string {
  const path = join(folder, name)
  execFileSync('ssh-keygen', ['-q', '-t', type, ...options, '-N', passphrase, '-C', 'me@here', '-f', path])
  return path
}

/** Serves an agent at a socket, as OpenSSH's clients reach one. */
async function served<T>(agent: SshAgent, use: (socket: string) => Promise<T>): Promise<T> {
  const socket = join(folder, `${Math.random()}.sock`)
  const server: Server = createServer(async client => {
    const connection = await agent.connect()
    client.on('error', () => {})
    for await (const request of agentMessages(client)) client.write(string(await connection.answer(request)))
    connection.close()
  })
  await new Promise<void>(resolve => server.listen(socket, resolve))
  try {
    return await use(socket)
  } finally {
    server.close()
  }
}

const agentOf = async (...paths: readonly string[]): Promise<SshAgent> =>
  (await openAgents(new Map([['default', paths]]))).get('default')!

const sshAdd = async (socket: string, ...args: readonly string[]): Promise<string> =>
  (await run('ssh-add', args, { env: { ...process.env, SSH_AUTH_SOCK: socket } })).stdout

const publicKey = (path: string): string => readFileSync(`${path}.pub`, 'utf8').split(' ').slice(0, 2).join(' ')

describe('an agent with keys from files', () => {
  test.each(few(KINDS, 2))('OpenSSH lists a key and accepts its signatures: %s %j', async (type, options) => {
    const path = keyOf(`key-${Math.random()}`, type, options)
    await served(await agentOf(path), async socket => {
      expect((await sshAdd(socket, '-L')).trim()).toBe(publicKey(path))
      await sshAdd(socket, '-T', `${path}.pub`)
    })
  })

  test('one agent serves several keys', async () => {
    const paths = [keyOf('first', 'ed25519'), keyOf('second', 'rsa', ['-b', '2048'])]
    await served(await agentOf(...paths), async socket => {
      expect(
        (await sshAdd(socket, '-L'))
          .trim()
          .split('\n')
          .map(line => line.trim()),
      ).toEqual(paths.map(publicKey))
    })
  })

  test('a build can neither add nor delete keys of files or of an agent', async () => {
    const path = keyOf('kept', 'ed25519')
    await served(await agentOf(path), async socket => {
      const behind = agentAt(socket)
      for (const agent of [await agentOf(path), behind])
        await served(agent, async outer => {
          await expect(sshAdd(outer, '-D')).rejects.toThrow()
          await expect(sshAdd(outer, path)).rejects.toThrow()
          expect((await sshAdd(outer, '-L')).trim()).toBe(publicKey(path))
          await sshAdd(outer, '-T', `${path}.pub`)
        })
    })
  })

  test.skipIf(lacks('sshd', findSshd() === undefined)).each(few(KINDS.slice(0, 5), 0))(
    'sshd accepts %s %j',
    async (type, options) => {
      const path = keyOf(`login-${Math.random()}`, type, options)
      const server = await sshServer('/')
      try {
        const { port } = new URL(server.address)
        const [, clientKey] = /-i (\S+)/.exec(server.env.GIT_SSH_COMMAND!)!
        writeFileSync(join(clientKey!, '../authorized_keys'), readFileSync(`${path}.pub`))
        await served(await agentOf(path), async socket => {
          const settings = [
            `IdentityAgent=${socket}`,
            'BatchMode=yes',
            'StrictHostKeyChecking=no',
            'UserKnownHostsFile=/dev/null',
          ]
          const words = ['-F', '/dev/null', '-p', port, ...settings.flatMap(setting => ['-o', setting])]
          const { stdout } = await run('ssh', [...words, `${userInfo().username}@127.0.0.1`, 'echo', 'in'])
          expect(stdout).toBe('in\n')
        })
      } finally {
        await server.close()
      }
    },
  )
})

describe('invalid SSH keys', () => {
  const refused = (...paths: readonly string[]) =>
    agentOf(...paths).then(
      () => 'accepted',
      ({ message, hint }) => `${message.replaceAll(folder, '')}; ${hint}`,
    )

  const forms: readonly (readonly [string, readonly string[]])[] = [
    ['OpenSSH', []],
    ['PEM', ['-m', 'PEM']],
    ['PKCS8', ['-m', 'PKCS8']],
  ]
  test.each(few(forms))('openAgents refuses a key with a passphrase, as %s', async (name, options) => {
    const path = keyOf(`locked-${name}`, 'rsa', options, 'passphrase')
    expect(await refused(path)).toBe(
      `the SSH key \`default\` of the build cannot be used: \`/locked-${name}\`: it has a passphrase; ` +
        'add the key to an agent with `ssh-add`, and write `default` instead of its path',
    )
  })

  test('openAgents refuses public keys, damaged keys, other files and folders', async () => {
    const path = keyOf('good', 'ed25519')
    expect(await refused(`${path}.pub`)).toContain('it is a public key; name the file without `.pub`')
    const text = readFileSync(path, 'utf8')
    for (const [index, part] of [text.slice(0, 200), text.replace('b3BlbnNz', 'AAAAAAAA')].entries()) {
      writeFileSync(join(folder, `bad-${index}`), part)
      expect(await refused(join(folder, `bad-${index}`))).toContain('it is damaged')
    }
    writeFileSync(join(folder, 'other'), 'hello')
    expect(await refused(join(folder, 'other'))).toContain('it is neither a private key nor the socket of an agent')
    expect(await refused(folder)).toContain('it is a folder')
    expect(await refused('/dev/zero')).toContain('it is not a key')
    expect(await refused(join(folder, 'gone'))).toContain('`/gone`: there is no such file')
  })

  test('openAgents refuses a file without read permission', async () => {
    if (process.getuid?.() === 0) return
    const path = keyOf('private', 'ed25519')
    chmodSync(path, 0)
    expect(await refused(path)).toContain('permission denied')
  })

  test('openAgents refuses a missing agent, and an agent next to a key', async () => {
    expect(await refused()).toContain('`SSH_AUTH_SOCK` is not set; start an agent')
    const path = keyOf('beside', 'ed25519')
    await served(await agentOf(path), async socket => {
      expect(await refused(socket, path)).toContain('name one socket, or only files of keys')
    })
  })
})

test('an agent refuses truncated, unknown and too large messages', async () => {
  const connection = await (await agentOf(keyOf('fuzzed', 'ed25519'))).connect()
  for (const bytes of [[], [11], [13], [13, 0, 0, 0, 9, 1], [255, 255], [27, 0]]) {
    const [kind] = await connection.answer(Buffer.from(bytes))
    expect(kind).toBe(bytes[0] === 11 ? 12 : 5)
  }
  const large = agentMessages([Buffer.from([255, 255, 255, 255])] as never)
  await expect(large.next()).rejects.toThrow('too large')
})
