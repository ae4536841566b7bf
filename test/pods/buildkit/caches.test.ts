import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ImageInput } from '../../../adapters/buildkit/builder.ts'
import type { BuildStatus } from '../../../adapters/buildkit/status.ts'
import { build, buildctl, findBuildkit, imageOf, inFolder, ofFolder } from '../../support/buildkit/buildkit.ts'
import { findBuildkitd, ownBuildkit } from '../../support/buildkit/own-buildkit.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { listening, once } from './faults.ts'

const buildkit = findBuildkit() ?? ''

const local = (key: 'src' | 'dest', folder: string, more = {}) => ({
  type: 'local',
  attributes: { [key]: folder, ...more },
})

/** Builds, and returns the warnings and the names of the steps that ran. */
async function stepsOf(address: string, folder: string, part: Partial<ImageInput>) {
  const ran = new Set<string>()
  const cached = new Set<string>()
  const warnings: string[] = []
  const onStatus = ({ vertexes = [], warnings: found = [] }: BuildStatus) => {
    for (const { name, started, cached: isCached } of vertexes) {
      if (!/\] (?:RUN|COPY)/.test(name)) continue
      if (isCached) cached.add(name)
      else if (started) ran.add(name)
    }
    warnings.push(...found.map(({ short }) => String(Buffer.from(short ?? []))))
  }
  await build(address, { ...ofFolder(folder), ...part }, { onStatus })
  return { ran: [...ran].filter(name => !cached.has(name)), cached: [...cached], warnings }
}

/** Returns a Dockerfile with two steps that no other build has. */
const dockerfile = () =>
  `FROM busybox AS one\n${once()} && head -c 300000 /dev/urandom > /random\nFROM scratch\nCOPY --from=one /random /\n`

const wholeCache = async (folder: string): Promise<void> => {
  expect((await readdir(folder)).sort()).toEqual(expect.arrayContaining(['blobs', 'index.json', 'oci-layout']))
  expect(await readdir(join(folder, 'ingest'))).toEqual([])
}

describe.skipIf(buildkit === '')('caches in folders', () => {
  test('caches are written and read, and exchanged with buildctl', async () => {
    await inFolder({ Dockerfile: dockerfile() }, async folder => {
      const [ours, theirs] = [join(folder, 'ours'), join(folder, 'theirs')]
      await mkdir(theirs)
      const first = await stepsOf(buildkit, folder, { cacheTo: [local('dest', ours, { mode: 'max' })] })
      expect(first.ran).toHaveLength(2)
      await wholeCache(ours)

      const folders = ['--local', `context=${folder}`, '--local', `dockerfile=${folder}`]
      const command = ['build', '--frontend', 'dockerfile.v0', ...folders]
      await buildctl(buildkit, [
        ...command,
        '--import-cache',
        `type=local,src=${ours}`,
        '--export-cache',
        `type=local,dest=${theirs},mode=max`,
      ])
      expect(await layersOf(ours)).toEqual(await layersOf(theirs))

      const again = await stepsOf(buildkit, folder, {
        cacheFrom: [local('src', theirs)],
        cacheTo: [local('dest', theirs, { mode: 'max' })],
      })
      expect(again).toMatchObject({ ran: [], warnings: [] })
    })
  })

  longTest('several tags share a folder, and concurrent builds do not disturb each other', async () => {
    await inFolder({}, async folder => {
      const cache = join(folder, 'cache')
      await Promise.all(
        ['a', 'b', 'c'].map(async tag => {
          const text = `FROM scratch\nCOPY --from=busybox /bin/busybox /${tag}${Math.random()}\n`
          await build(buildkit, { context: { folder }, dockerfile: { text }, cacheTo: [local('dest', cache, { tag })] })
        }),
      )
      const { manifests } = await indexOf(cache)
      expect(manifests.map(({ annotations }) => annotations['org.opencontainers.image.ref.name']).sort()).toEqual([
        'a',
        'b',
        'c',
      ])
      await wholeCache(cache)
      const text = 'FROM scratch\nCOPY . /\n'
      const { warnings } = await stepsOf(buildkit, folder, {
        dockerfile: { text },
        cacheFrom: [local('src', cache, { tag: 'b' })],
      })
      expect(warnings).toEqual([])
    })
  })

  test('a missing or damaged cache is left out with a warning', async () => {
    await inFolder({ Dockerfile: 'FROM scratch\nCOPY Dockerfile /\n' }, async folder => {
      const damaged = join(folder, 'damaged')
      await mkdir(damaged)
      await writeFile(join(damaged, 'index.json'), '{"manifests": 1}')
      const cacheFrom = [local('src', join(folder, 'gone')), local('src', damaged)]
      const { warnings } = await stepsOf(buildkit, folder, { cacheFrom })
      expect(warnings).toEqual([
        `there is no cache \`latest\` in \`${folder}/gone\``,
        `\`${damaged}/index.json\` is not the index of a cache: \`manifests\` must be an array or \`null\``,
      ])
      expect(existsSync(join(folder, 'gone'))).toBe(false)
    })
  })
})

const program = findBuildkitd()

if (TAKES_ALL)
  describe.skipIf(buildkit === '' || program === undefined)('another BuildKit', () => {
    test('another BuildKit builds from the cache of a folder alone', async () => {
      const other = await ownBuildkit(program!)
      onTestFinished(other.close)
      await inFolder({ Dockerfile: dockerfile() }, async folder => {
        const cache = join(folder, 'cache')
        await build(buildkit, { ...ofFolder(folder), cacheTo: [local('dest', cache, { mode: 'max' })] })
        const before = await imageOf(buildkit, folder)
        const cacheFrom = [local('src', cache)]
        expect(await stepsOf(other.address, folder, { cacheFrom })).toMatchObject({ ran: [], warnings: [] })
        expect(await imageOf(other.address, folder, { cacheFrom })).toEqual(before)
      })
    })
  })

test.skipIf(buildkit === '')('caches of GitHub Actions and S3 get the logins of the environment', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`)
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  })
  await listening(server, async port => {
    const at = `http://127.0.0.1:${port}`
    const s3 = `type=s3,bucket=layers,region=eu,endpoint_url=${at},use_path_style=true`
    const cacheFrom = ['type=gha', s3]
    const folder = makeFolder({
      'compose.yaml': JSON.stringify({ services: { web: { build: { context: '.', cache_from: cacheFrom } } } }),
      Dockerfile: `FROM scratch\nCOPY Dockerfile /${Math.random()}\n`,
    })
    // The token of a runner lists the caches that it may read.
    const claims = { ac: JSON.stringify([{ Scope: 'refs/heads/main', Permission: 3 }]), nbf: 1, exp: 2 ** 33 }
    const token = ['{"alg":"HS256"}', JSON.stringify(claims), '']
      .map(part => Buffer.from(part).toString('base64url'))
      .join('.')
    const env = {
      BUILDKIT_HOST: buildkit,
      DEVCTL_HOME: join(folder, '.home'),
      ACTIONS_RUNTIME_TOKEN: token,
      ACTIONS_CACHE_URL: `${at}/actions/`,
      AWS_ACCESS_KEY_ID: 'the-key-id',
      AWS_SECRET_ACCESS_KEY: 'the-secret-key',
    }
    const { status, stdout, stderr } = await run(['build', '--push=false', '--progress', 'plain'], { cwd: folder, env })
    expect(status, stderr).toBe(0)
    expect(asked, stderr).toContainEqual(expect.stringMatching(/^\/actions\/.* Bearer /))
    expect(asked).toContainEqual(expect.stringMatching(/^\/layers\/.*Credential=the-key-id\//))
    for (const secret of [token, 'the-secret-key']) expect(stdout + stderr).not.toContain(secret)
  })
})

/** Returns the layers of a cache. */
async function layersOf(folder: string): Promise<readonly string[]> {
  const [only] = (await indexOf(folder)).manifests
  const manifest = JSON.parse(await readFile(join(folder, 'blobs', only!.digest.replace(':', '/')), 'utf8'))
  return manifest.layers.map(({ digest }: { readonly digest: string }) => digest).sort()
}

async function indexOf(folder: string): Promise<Index> {
  return JSON.parse(await readFile(join(folder, 'index.json'), 'utf8'))
}

interface Index {
  readonly manifests: readonly { readonly digest: string; readonly annotations: Readonly<Record<string, string>> }[]
}
