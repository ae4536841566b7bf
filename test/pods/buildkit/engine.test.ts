import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ImageInput } from '../../../adapters/buildkit/builder.ts'
import { BuildFailure } from '../../../adapters/buildkit/failure.ts'
import type { BuildStatus } from '../../../adapters/buildkit/status.ts'
import {
  build,
  findBuildkit,
  findEngineAddress,
  imageOf,
  imageOfBuildctl,
  inFolder,
  ofFolder,
} from '../../support/buildkit/buildkit.ts'
import { longTest } from '../../support/takes-all.ts'
import { failureOf, listening, once } from './faults.ts'

const buildkit = findBuildkit() ?? ''
const engine = findEngineAddress() ?? ''

describe.skipIf(engine === '')('a Docker Engine', () => {
  test.skipIf(buildkit === '')('a Docker Engine gives the files that buildctl gives for the same input', async () => {
    const dockerfile = 'FROM scratch\nCOPY --chown=7:8 . /app/\nUSER 7\nCMD ["x"]\n'
    const files = { Dockerfile: dockerfile, 'a.txt': `${Math.random()}`, 'b.log': 'b', '.dockerignore': '*.log\n' }
    // The cache ignores times, so files of an earlier test would be used.
    await inFolder(files, async folder => {
      const ours = await imageOf(engine, folder)
      const theirs = await imageOfBuildctl(buildkit, folder)
      expect({ ...ours, config: undefined, layers: [] }).toEqual({ ...theirs, config: undefined, layers: [] })
      expect(ours.config).toMatchObject({ config: { User: '7', Cmd: ['x'] } })
    })
  })

  test('a failed step has its exit status, and a mistake in the Dockerfile its line', async () => {
    const failing = { text: `FROM busybox\n${once()} && exit 3\n` }
    const mistaken = { text: 'FROM scratch\n\nCOPPY a b\n' }
    await inFolder({}, async folder => {
      const context = { folder }
      const [failed, notParsed] = await Promise.all([
        failureOf(build(engine, { context, dockerfile: failing })),
        failureOf(build(engine, { context, dockerfile: mistaken })),
      ])
      expect(failed).toBeInstanceOf(BuildFailure)
      expect(failed).toMatchObject({ exitStatus: 3 })
      expect(notParsed).toMatchObject({ place: { start: 3, end: 3 } })
    })
  })

  test('the engine pushes an image, and returns the digest that the registry has', async () => {
    const registry = process.env.DEVCTL_TEST_REGISTRY ?? '127.0.0.1:5000'
    await inFolder({ Dockerfile: `FROM scratch\nCOPY Dockerfile /${Math.random()}\n` }, async folder => {
      const repository = `devctl-test/${Date.now()}`
      const output = {
        kind: 'registry',
        names: [`${registry}/${repository}:1`, `${registry}/${repository}:2`],
      } as const
      const steps = new Set<string>()
      const onStatus = ({ vertexes = [] }: BuildStatus) => {
        for (const { name, completed } of vertexes) if (completed) steps.add(name)
      }
      const { digest } = await build(engine, { ...ofFolder(folder), output }, { onStatus })
      for (const tag of ['1', '2']) {
        const accept = 'application/vnd.docker.distribution.manifest.v2+json'
        const answer = await fetch(`http://${registry}/v2/${repository}/manifests/${tag}`, { headers: { accept } })
        expect(answer.headers.get('docker-content-digest')).toBe(digest)
      }
      expect([...steps]).toContain(`pushing ${output.names[1]}`)
    })
  })

  longTest('a registry gets the login for its host, and may refuse the push', async () => {
    const logins = new Set<string | undefined>()
    const registry = createServer((request, response) => {
      logins.add(request.headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
    })
    await listening(registry, async port => {
      await inFolder({ Dockerfile: 'FROM scratch\nCOPY Dockerfile /\n' }, async folder => {
        const output = { kind: 'registry', names: [`127.0.0.1:${port}/x:1`] } as const
        const credentials = async () => ({ username: 'me', secret: 'hidden ~?>' })
        const failure = await failureOf(build(engine, { ...ofFolder(folder), output }, { credentials }))
        expect(failure).toMatchObject({ kind: 'registry', isTransient: false })
        expect([...logins]).toContain(`Basic ${Buffer.from('me:hidden ~?>').toString('base64')}`)
      })
    })
  })

  test('options that the engine cannot support are refused, or reported as without effect', async () => {
    await inFolder({ Dockerfile: 'FROM scratch\nCOPY Dockerfile /\n' }, async folder => {
      const refusal = async (part: Partial<ImageInput>) => {
        const failure = await failureOf(build(engine, { ...ofFolder(folder), ...part }))
        expect(failure).toMatchObject({ kind: 'refused' })
        return (failure as Error).message.replace(/^.*?\(version [^)]*\) /, '')
      }
      expect(await refusal({ platforms: ['linux/amd64', 'linux/arm64'] })).toContain(
        'cannot hold an image for several platforms: that needs the containerd image store',
      )
      expect(await refusal({ contexts: new Map([['assets', { folder }]]) })).toBe(
        'does not know additional contexts: they need Docker 23.0',
      )
      const context = { remote: 'https://git.example.com/app.git#main:docker' }
      expect(await refusal({ context, dockerfile: { path: 'Dockerfile' } })).toBe(
        'does not know a folder of a repository as context: it needs Docker 23.0',
      )
      const cache = { type: 'registry', attributes: { ref: '127.0.0.1:5000/x:cache' } }
      expect(await refusal({ cacheTo: [cache] })).toContain('cannot export a cache of the type `registry`')

      const warnings: string[] = []
      const onStatus = ({ warnings: found = [] }: BuildStatus) => {
        warnings.push(...found.map(({ short }) => String(short).replace(/ with the Docker Engine .*$/, '')))
      }
      const limits = { shmSize: 1 << 20, ulimits: [{ name: 'nofile', soft: 100, hard: 100 }] }
      await build(engine, { ...ofFolder(folder), ...limits, provenance: 'mode=max', sbom: 'true' }, { onStatus })
      expect(warnings).toEqual([
        '`shm_size` needs Docker 23.0 and has no effect',
        '`ulimits` needs Docker 23.0 and has no effect',
        '`provenance` needs the containerd image store and has no effect',
        '`sbom` needs the containerd image store and has no effect',
      ])
    })
  })

  longTest('an engine on another machine is reached by `ssh`, whose message is part of a failure', async () => {
    const files = { Dockerfile: `FROM busybox\n${once()}\n`, ssh: fakeSsh(engine) }
    await inFolder(files, async folder => {
      await chmod(join(folder, 'ssh'), 0o755)
      const path = process.env.PATH
      process.env.PATH = `${folder}${delimiter}${path}`
      try {
        await build('docker=ssh://me@host:22', ofFolder(folder))
        await writeFile(
          join(folder, 'ssh'),
          '#!/bin/sh\necho "me@host: Permission denied (publickey)." >&2\nexit 255\n',
        )
        expect(await failureOf(build('docker=ssh://me@host:22', ofFolder(folder)))).toMatchObject({
          kind: 'unreachable',
          message: 'no connection to the Docker Engine at `ssh://me@host:22`: me@host: Permission denied (publickey).',
        })
      } finally {
        process.env.PATH = path
      }
    })
  })
})

/** Returns an `ssh` that connects to the engine of this machine, if it is called as `docker` calls it. */
const fakeSsh = (address: string) => `#!${process.execPath}
const asked = process.argv.slice(2).join(' ')
if (!asked.endsWith('-l me -p 22 -- host docker system dial-stdio')) throw new Error(asked)
const socket = require('node:net').connect(${JSON.stringify(address.replace(/^.*unix:\/\//, ''))})
process.stdin.pipe(socket)
socket.pipe(process.stdout)
`
