import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { BuilderError, BuildFailure } from '../../../adapters/buildkit/failure.ts'
import type { BuildStatus } from '../../../adapters/buildkit/status.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { hashBuild } from '../../../project/hashes/build-hash.ts'
import { changeFinder } from '../../../project/hashes/hashed-files.ts'
import {
  addressOf,
  build,
  findBuilders,
  findBuildkit,
  findEngineAddress,
  imageOf,
  imageOfBuildctl,
  inFolder,
  ofFolder,
} from '../../support/buildkit/buildkit.ts'
import { TcpProxy } from '../../support/cluster/tcp-proxy.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'
import { failureOf, listening, once } from './faults.ts'

const buildkit = findBuildkit() ?? ''
const engine = findEngineAddress() ?? ''

/**
 * Returns true if rules that both builders share are tested on this one: on the first, and on each in `npm run
 * test:long`.
 */
const isFirst = (address: string): boolean => TAKES_ALL || address === (buildkit || engine)

describe.each(findBuilders())('%s', (_, address) => {
  test('a Dockerfile may be a text', async () => {
    await inFolder({ 'a.txt': 'a', Dockerfile: 'FROM scratch\nCOPY nothing /\n' }, async folder => {
      const { listing } = await imageOf(address, folder, { dockerfile: { text: 'FROM scratch\nCOPY a.txt /\n' } })
      expect(listing.map(line => line.split(' ').at(-1))).toEqual(['a.txt', ''])
    })
  })

  if (isFirst(address))
    test('patterns with a comma, and thousands of patterns, exclude what they name', async () => {
      const patterns = Array.from({ length: 3000 }, (_, index) => `nothing-${index}`)
      const files = { Dockerfile: 'FROM scratch\nCOPY . /\n', 'a, b': '', a: '', b: '', 'ü, x': '' }
      await inFolder({ ...files, 'Dockerfile.dockerignore': ['a, b', ...patterns, 'D*'].join('\n') }, async folder => {
        const { listing } = await imageOf(address, folder)
        expect(listing.map(line => /\d\d:\d\d:\d\d (.*)$/.exec(line)?.[1])).toEqual(['a', 'b', 'ü, x', undefined])
      })
    })

  if (isFirst(address))
    test('secrets are values, or files that are read when a step requests them', async () => {
      const mounts = '--mount=type=secret,id=value --mount=type=secret,id=file,required=true'
      const check = '[ "$(cat /run/secrets/value)" = one ] && [ "$(cat /run/secrets/file)" = two ]'
      await inFolder({ Dockerfile: `FROM busybox\nRUN ${mounts} ${check} && : ${Math.random()}` }, async folder => {
        const file = join(folder, 'secret')
        const secrets = new Map([
          ['value', { value: 'one' }],
          ['file', { file }],
        ])
        const missing = await failureOf(build(address, { ...ofFolder(folder), secrets }))
        expect(missing).toMatchObject({ message: expect.stringContaining('ENOENT') })
        await writeFile(file, 'two')
        await build(address, { ...ofFolder(folder), secrets })
      })
    })

  if (isFirst(address))
    test('steps list the keys of files and agents, and get data signed', async () => {
      const dockerfile = `FROM python:3.11\nCOPY ask.py /\n${once()}\n${['default', 'agent', 'both']
        .map(id => `RUN --mount=type=ssh,id=${id},required=true python3 /ask.py ${id === 'both' ? 2 : 1}`)
        .join('\n')}`
      await inFolder({ Dockerfile: dockerfile, 'ask.py': ASK_AGENT }, async folder => {
        const [one, two] = ['one', 'two'].map(name => join(folder, name)) as [string, string]
        for (const key of [one, two]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
        const socket = join(folder, 'agent.sock')
        const agent = spawn('ssh-agent', ['-D', '-a', socket])
        try {
          await vi.waitUntil(() => existsSync(socket), { timeout: 60_000 })
          execFileSync('ssh-add', ['-q', two], { env: { ...process.env, SSH_AUTH_SOCK: socket } })
          const ssh = new Map([
            ['default', [one]],
            ['agent', [socket]],
            ['both', [one, two]],
          ])
          await build(address, { ...ofFolder(folder), ssh })
        } finally {
          agent.kill()
        }
      })
    })

  if (isFirst(address))
    test('a file that is no key, and an agent that does not run, are refused', async () => {
      await inFolder({ Dockerfile: 'FROM scratch\nCOPY Dockerfile /\n', key: 'x' }, async folder => {
        for (const path of [join(folder, 'key'), join(folder, 'gone')]) {
          const ssh = new Map([['default', [path]]])
          const failure = await failureOf(build(address, { ...ofFolder(folder), ssh }))
          expect(failure).toBeInstanceOf(UserError)
          expect(failure).toMatchObject({ message: expect.stringContaining(path) })
        }
      })
    })

  if (isFirst(address))
    test('the next build sends only changed files', async () => {
      await inFolder({ Dockerfile: 'FROM scratch\nCOPY . /\n' }, async folder => {
        await mkdir(join(folder, 'data'))
        for (let index = 0; index < 100; index++)
          await writeFile(join(folder, `data/${index}`), `${index}`.repeat(20_000))
        expect(await sentBy(address, folder)).toBeGreaterThan(2_000_000)
        await writeFile(join(folder, 'data/7'), 'changed')
        expect(await sentBy(address, folder)).toBeLessThan(20_000)
      })
    })

  test('a file that changes after it was hashed fails the build, even if the builder had it before', async () => {
    await inFolder({ Dockerfile: 'FROM scratch\nCOPY . /\n', a: 'one', b: '' }, async folder => {
      hashBuild({ context: folder, args: [] })
      await build(address, ofFolder(folder), { changesIn: changeFinder })
      await writeFile(join(folder, 'a'), 'two')
      const failure = await failureOf(build(address, ofFolder(folder), { changesIn: changeFinder }))
      expect(failure).toBeInstanceOf(BuilderError)
      expect(failure).toMatchObject({ kind: 'changed', message: '`a` changed during the build' })
    })
  })

  test('an abort cancels the build on the builder and leaves no file', async () => {
    // Only one build at a time can use the cache.
    const cache = `--mount=type=cache,id=devctl-${Math.random()},target=/cache,sharing=locked`
    await inFolder({ Dockerfile: `FROM busybox\nRUN ${cache} sleep 100` }, async folder => {
      const abort = new AbortController()
      const reason = new Error('stopped')
      const onStatus = ({ vertexes = [] }: BuildStatus) => {
        if (vertexes.some(({ name, started }) => name.includes('sleep') && started)) abort.abort(reason)
      }
      const output = { kind: 'archive', path: join(folder, 'out.tar'), names: [] } as const
      const building = build(address, { ...ofFolder(folder), output }, { signal: abort.signal, onStatus })
      expect(await failureOf(building)).toBe(reason)
      expect(await readdir(folder)).toEqual(['Dockerfile'])
      const dockerfile = { text: `FROM busybox\nRUN ${cache} true` }
      await build(address, { ...ofFolder(folder), dockerfile }, { signal: AbortSignal.timeout(60_000) })
    })
  })
})

describe.skipIf(buildkit === '')('BuildKit', () => {
  test('BuildKit gives the image that buildctl gives for the same input', async () => {
    const dockerfile = [
      'FROM busybox AS base',
      'ARG GREETING=none',
      'RUN echo "$GREETING" > /greeting',
      'FROM scratch AS final',
      'COPY --from=base /greeting /',
      'COPY --from=assets . /assets',
      'COPY --chown=7:8 --chmod=640 . /app',
      'WORKDIR /app',
      'USER 7',
      'EXPOSE 80/tcp',
      'CMD ["cat", "/greeting"]',
      'FROM base AS other',
    ].join('\n')
    // The layers of earlier runs may have other times.
    const unique = String(Math.random())
    await inFolder({ 'one.txt': unique }, other =>
      inFolder({ Dockerfile: dockerfile, 'a.txt': unique, 'b.log': 'b', '.dockerignore': '*.log\n' }, async folder => {
        const ours = await imageOf(buildkit, folder, {
          target: 'final',
          args: new Map([['GREETING', `a, "b" ${unique}`]]),
          labels: new Map([['x', 'y']]),
          contexts: new Map([['assets', { folder: other }]]),
          extraHosts: [{ host: 'db', address: '10.0.0.1' }],
          shmSize: 1 << 20,
          ulimits: [{ name: 'nofile', soft: 100, hard: 200 }],
        })
        const greeting = `build-arg:GREETING=a, "b" ${unique}`
        const options = ['target=final', greeting, 'label:x=y', 'context:assets=local:assets']
        const settings = ['add-hosts=db=10.0.0.1', 'shm-size=1048576', 'ulimit=nofile=100:200']
        const theirs = await imageOfBuildctl(buildkit, folder, [
          ...['--local', `assets=${other}`],
          ...[...options, ...settings].flatMap(option => ['--opt', option]),
        ])
        // Folders have the time of their step, to the second: the list of files omits it, digests do not.
        expect({ ...ours, layers: ours.layers.length }).toEqual({ ...theirs, layers: theirs.layers.length })
        expect(ours.listing.join('\n')).toContain('app/a.txt')
        expect(ours.listing.join('\n')).not.toContain('b.log')
      }),
    )
  })

  test('a step that fails reports its place', async () => {
    const dockerfile = `FROM busybox\n\n${once()} && \\\n    exit 3\n`
    await inFolder({ 'web.Dockerfile': dockerfile }, async folder => {
      const path = join(folder, 'web.Dockerfile')
      const failure = await failureOf(build(buildkit, { context: { folder }, dockerfile: { path } }))
      expect(failure).toBeInstanceOf(BuildFailure)
      expect(failure).toMatchObject({
        exitStatus: 3,
        isTransient: false,
        place: { filename: 'web.Dockerfile', start: 3, text: dockerfile },
      })
    })
  })

  test('a cut connection is a failure that may be tried again', async () => {
    const proxy = await TcpProxy.to(addressOf(buildkit))
    await inFolder({ Dockerfile: `FROM busybox\n${once()} && sleep 100` }, async folder => {
      const onStatus = ({ vertexes = [] }: BuildStatus) => {
        if (vertexes.some(({ name, started }) => name.includes('sleep') && started)) proxy.cut()
      }
      const building = build(`tcp://127.0.0.1:${proxy.port}`, ofFolder(folder), { onStatus })
      expect(await failureOf(building)).toMatchObject({ kind: 'lost', isTransient: true })
    })
    proxy.close()
  })

  // The test `registry-faults` tests this with the program and its attempts.
  if (TAKES_ALL)
    test.each([
      [503, true],
      [429, true],
      [403, false],
    ])('a push that a registry answers with %i fails, and may be tried again: %s', async (status, isTransient) => {
      const registry = createHttpServer((_, response) => response.writeHead(status).end('{}'))
      await listening(registry, async port => {
        await inFolder({ Dockerfile: `FROM scratch\nCOPY Dockerfile /\n` }, async folder => {
          const output = { kind: 'registry', names: [`127.0.0.1:${port}/x:1`] } as const
          const failure = await failureOf(build(buildkit, { ...ofFolder(folder), output }))
          expect(failure).toBeInstanceOf(BuilderError)
          expect(failure).toMatchObject({ kind: 'registry', isTransient })
        })
      })
    })

  test('a registry gets the login for its host', async () => {
    const logins = new Set<string | undefined>()
    const registry = createHttpServer((request, response) => {
      logins.add(request.headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
    })
    await listening(registry, async port => {
      await inFolder({ Dockerfile: 'FROM scratch\nCOPY Dockerfile /\n' }, async folder => {
        const output = { kind: 'registry', names: [`127.0.0.1:${port}/x:1`] } as const
        const asked: string[] = []
        const credentials = async (host: string) => {
          asked.push(host)
          return { username: 'me', secret: 'hidden' }
        }
        await failureOf(build(buildkit, { ...ofFolder(folder), output }, { credentials }))
        expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${port}`]))
        expect([...logins]).toContain(`Basic ${Buffer.from('me:hidden').toString('base64')}`)
      })
    })
  })
})

/** Program that asks the agent for its keys, has each sign data, and is refused a request that changes the agent. */
const ASK_AGENT = `
import os, socket, struct, sys
agent = socket.socket(socket.AF_UNIX)
agent.connect(os.environ["SSH_AUTH_SOCK"])
def read(count):
    found = b""
    while len(found) < count:
        found += agent.recv(count - len(found)) or sys.exit("closed")
    return found
def ask(message):
    agent.sendall(struct.pack(">I", len(message)) + message)
    return read(struct.unpack(">I", read(4))[0])
def text(value): return struct.pack(">I", len(value)) + value
answer = ask(b"\\x0b")
assert answer[0] == 12
keys, at = [], 5
for _ in range(struct.unpack(">I", answer[1:5])[0]):
    size = struct.unpack(">I", answer[at:at + 4])[0]
    keys.append(answer[at + 4:at + 4 + size])
    at += 4 + size
    at += 4 + struct.unpack(">I", answer[at:at + 4])[0]
assert len(keys) == int(sys.argv[1]), keys
for key in keys:
    signed = ask(b"\\x0d" + text(key) + text(b"data" * 20000) + struct.pack(">I", 0))
    assert signed[0] == 14 and b"ssh-ed25519" in signed
assert ask(b"\\x13") == b"\\x05"
`

/** Returns the bytes of the context that a build sends. */
async function sentBy(address: string, folder: string): Promise<number> {
  let sent = 0
  await build(address, ofFolder(folder), {
    onStatus: ({ statuses = [] }) => {
      for (const { ID, current = 0 } of statuses)
        if (ID.includes('transferring context')) sent = Math.max(sent, current)
    },
  })
  return sent
}
