import { describe, expect, test } from 'vitest'
import { ensureInstallImages, imagesNote } from '../../../cli/run/platform/install-images.ts'
import type { FoundPlatformImages } from '../../../platform/install/installed-images.ts'
import { platformImages } from '../../../platform/install/manifests/images.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { refuse } from '../../support/registry/fake-registry.ts'
import { memoryRegistry } from '../../support/registry/memory-registry.ts'
import { run } from '../../support/run.ts'

const devctl = (line: string, env: Readonly<Record<string, string>> = {}) => {
  const cwd = makeFolder({})
  return run(line.split(' '), { cwd, env: { HOME: cwd, DEVCTL_HOME: cwd, KUBECONFIG: 'none', ...env } })
}

describe('platform images', () => {
  test('the list has the base images of each image, and needs neither a cluster nor a builder', async () => {
    const { status, stdout } = await devctl('platform images')
    expect(status).toBe(0)
    expect(stdout).toMatch(/^Image +Tag +Base images\nplatform +\d+\.\d+\.\d+ +docker\.io\/library\/node:22-alpine\n/)
    expect(stdout).not.toContain('sha256')
    const pinned = await devctl('platform images --output json')
    for (const { bases } of JSON.parse(pinned.stdout)) for (const image of bases) expect(image).toMatch(/@sha256:/)
    const printed = await devctl('platform images --output json --base-registry r.internal/base')
    const all: readonly { readonly name: string; readonly bases: readonly string[] }[] = JSON.parse(printed.stdout)
    expect(all.map(({ name }) => name)).toEqual(['platform', 'runner', 'registry', 'buildkit'])
    for (const image of all.flatMap(({ bases }) => bases)) expect(image).toMatch(/^r\.internal\/base\//)
  })

  test.each([
    ['platform images --from r.example.com/a', '`--from` needs `--push`'],
    ['platform images --bases', '`--bases` needs `--push`'],
    ['platform images --rebuild', '`--rebuild` needs `--push`'],
    ['platform images --push r.b --bases --from r.a', '`--bases` and `--from` cannot be combined'],
    ['platform images --push r.b --from r.a --rebuild', '`--from` and `--rebuild` cannot be combined'],
    ['platform images --push r.b --bases --base-registry r.a', '`--bases` and `--base-registry` cannot be combined'],
  ])('%s is refused', async (line, message) => {
    expect(await devctl(line)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) })
  })

  test('an image that the other registry lacks is named', async () => {
    const source = await memoryRegistry()
    const { status, stderr } = await devctl(`platform images --push r.internal/a --from ${source.host}/team`)
    expect(stderr).toContain(`error: the registry \`${source.host}\` has no \`${source.host}/team/platform:0.1.0\``)
    expect(status).toBe(1)
  })

  test('a builder that does not answer is reported', async () => {
    const target = await memoryRegistry((_, response) => {
      refuse(response, 404, 'MANIFEST_UNKNOWN')
      return true
    })
    const line = `platform images --push ${target.host}/team`
    const { status, stderr } = await devctl(line, { BUILDKIT_HOST: 'tcp://127.0.0.1:9' })
    expect(stderr).toContain('no connection to BuildKit at `tcp://127.0.0.1:9`')
    // A platform that the user is not logged in to has no builder for its own images.
    const platform = { DEVCTL_URL: 'https://platform.example.com', DOCKER_HOST: 'tcp://127.0.0.1:9' }
    expect((await devctl(line, platform)).stderr).toContain('the builder is the Docker Engine of `DOCKER_HOST`')
    expect(stderr).toContain('it is needed for the images of `platform`, `runner`, `registry`, `buildkit`')
    expect(status).toBe(1)
  })
})

describe('platform install', () => {
  const registry = 'r.internal/devctl'
  const images = platformImages(registry, '0.1.0')
  const one = {
    ...{ version: '0.1.0', domain: 'dev.example.com', replicas: 1, kubernetes: { server: 'https://k' } },
    ...{ image: images.platform, runnerImage: images.runner },
  }

  /** Ensures the images with a user at a terminal; returns the result, the questions and what was printed. */
  async function ensure(found: FoundPlatformImages, answer: string) {
    const [asked, printed]: [string[], string[]] = [[], []]
    const output = { write: (text: string) => void printed.push(text), isTTY: false }
    const choose = async (question: string) => {
      asked.push(question)
      return answer
    }
    const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), env: {}, cwd: '/', choose }
    const context = { io, logLevel: 'warn', commands: [], help: () => undefined } as const
    const place = { registry, found, one, cluster: 'kind-dev', check: async () => {} }
    const options = { yes: false, baseRegistry: undefined }
    const result = await ensureInstallImages(context, options, place, AbortSignal.timeout(10_000))
    return { result, asked, printed: printed.join('') }
  }

  test('a user at a terminal is asked before images are built, and a no changes nothing', async () => {
    const missing = ['platform', 'buildkit'] as const
    const { result, asked, printed } = await ensure({ images, missing }, 'no')
    expect(result).toBeUndefined()
    // A platform without builders needs no image for them.
    expect(asked).toEqual([
      '`r.internal/devctl` has no `platform:0.1.0`. Build and push it, which takes a few minutes?',
    ])
    expect(printed).toBe(
      'nothing was changed; to build them later, or on another machine: `devctl platform images --push r.internal/devctl`\n',
    )
  })

  test('nothing is asked if the registry has the images, or cannot be asked', async () => {
    const found = { images, missing: [] }
    expect(await ensure(found, 'no')).toEqual({ result: found, asked: [], printed: '' })
    expect(imagesNote(registry, found, one)).toContain('reports no digests')
    expect(imagesNote(registry, found, { ...one, image: 'a@sha256:1', runnerImage: 'b@sha256:2' })).toBe('')
  })
})
