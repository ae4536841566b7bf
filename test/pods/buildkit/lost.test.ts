import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { pause } from '../../../adapters/http/back-off.ts'
import { addressOf, ENGINE, findBuilders, findBuildkit } from '../../support/buildkit/buildkit.ts'
import { findBuildkitd, type OwnBuildkit, ownBuildkit } from '../../support/buildkit/own-buildkit.ts'
import { REGISTRY, type SlowOptions, type SlowProject, slowProject } from '../../support/buildkit/slow-project.ts'
import { generator } from '../../support/cluster/random.ts'
import { TcpProxy } from '../../support/cluster/tcp-proxy.ts'
import { type Ended, signal } from '../../support/git/processes.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { faultyRegistry } from './faulty-registry.ts'
import { expectNothingRuns, runsSteps } from './left.ts'

const buildkit = findBuildkit() ?? ''
const buildkitd = findBuildkitd()

if (TAKES_ALL)
  describe.skipIf(buildkit === '' || buildkitd === undefined)('a build in a BuildKit that stops or freezes', () => {
    let daemon: OwnBuildkit
    beforeAll(async () => {
      daemon = await ownBuildkit(buildkitd!)
    })
    afterAll(() => daemon?.close())

    test('a build starts again after its BuildKit was killed and restarted', async () => {
      const project = slowProject({ address: daemon.address, seconds: 15 })
      const { ended } = project.start('build')
      await runsSteps(project)
      await daemon.stop('SIGKILL')
      // Attempts that do not wait for BuildKit would all have failed within this time.
      await pause(5000, undefined)
      await daemon.start()
      await expectBuilt(
        project,
        await ended,
        /^web: attempt 2 of 3: the connection to BuildKit at `unix:\S+` was lost: /m,
      )
    })

    test('a build starts again when BuildKit stops answering pings', async () => {
      const env = { DEVCTL_KEEPALIVE_CLIENT_TIME_MS: '1', DEVCTL_KEEPALIVE_CLIENT_TIMEOUT_MS: '500' }
      const project = slowProject({ address: daemon.address, seconds: 15, env })
      const { ended } = project.start('build')
      await runsSteps(project)
      daemon.freeze()
      // The first ping is after 10 seconds.
      await pause(12_000, undefined)
      daemon.thaw()
      await expectBuilt(project, await ended, /^web: attempt 2 of 3: .* was lost: /m)
    })
  })

describe.skipIf(buildkit === '')('a connection to BuildKit', () => {
  longTest('a connection that is cut while files are sent costs one attempt', async () => {
    const { proxy, project } = await behindProxy({ seconds: 0.2, size: 24 << 20 })
    const { ended } = project.start('build')
    await vi.waitFor(() => expect(proxy.sent).toBeGreaterThan(4 << 20), { timeout: 60_000, interval: 1 })
    proxy.cut()
    await expectBuilt(
      project,
      await ended,
      /^(web|api): attempt 2 of 3: the connection to BuildKit at `tcp:\S+` was lost/m,
    )
  })

  test('a connection that is cut after the push costs one attempt, and both images exist', async () => {
    let isCut = false
    const registry = await faultyRegistry(
      () => undefined,
      ({ method, path }) => {
        if (isCut || method !== 'PUT' || !path.includes('/manifests/')) return
        isCut = true
        proxy.cut()
      },
    )
    const { proxy, project } = await behindProxy({ seconds: 0.2, registry: registry.host })
    await expectBuilt(project, await project.start('build').ended, /attempt 2 of 3/)
    expect(isCut).toBe(true)
  })

  longTest('a connection that is cut repeatedly fails the build after three attempts', async () => {
    const { proxy, project } = await behindProxy({ seconds: 60 })
    const { ended } = project.start('build')
    await runsSteps(project)
    const cutting = setInterval(() => proxy.cut(), 200)
    onTestFinished(() => clearInterval(cutting))
    const { status, stderr } = await ended
    expect(status, stderr).toBe(1)
    for (const attempt of [2, 3]) expect(stderr).toContain(`web: attempt ${attempt} of 3: the connection to BuildKit`)
    // Builds with the same error share one.
    expect(stderr).toContain('error[build/failed]: the image of ')
    expect(stderr).toMatch(/the image of `web` was not built: the connection to BuildKit at `\S+` was lost/)
    await expectNothingRuns(buildkit, project.mark)
  })

  longTest('a build waits for a silent connection until its time limit', async () => {
    const { proxy, project } = await behindProxy({ seconds: 60 })
    const { ended } = project.start('build', '--timeout', '60s')
    await runsSteps(project)
    proxy.hold()
    const { status, stderr } = await ended
    expect(status).toBe(1)
    expect(stderr).toContain('error: not done within 1 min 0 s')
    proxy.cut()
    await expectNothingRuns(buildkit, project.mark)
  })

  test('a silent connection does not delay the end of a build at Ctrl-C', async () => {
    const { proxy, project } = await behindProxy({ seconds: 60 })
    const { pid, ended } = project.start('build')
    await runsSteps(project)
    proxy.hold()
    const began = performance.now()
    signal(pid, 'SIGINT')
    expect(await ended).toMatchObject({ status: 130, stderr: expect.stringMatching(/interrupted\n$/) })
    expect(performance.now() - began).toBeLessThan(15_000)
    proxy.cut()
    await expectNothingRuns(buildkit, project.mark)
  })
})

describe.each(few(findBuilders()))('a connection to %s', (_, address) => {
  test('a connection that is cut at any moment costs one attempt at most', async () => {
    const seed = Number(process.env.KILLED_SEED ?? Date.now() % 1_000_000)
    const random = generator(seed)
    const { proxy, project } = await behindProxy({ seconds: 0.3 }, address)
    for (let run = 0; run < (TAKES_ALL ? 4 : 1); run++) {
      project.change()
      const after = Math.round(400 + random() * 1800)
      const { ended } = project.start('build')
      await pause(after, undefined)
      proxy.cut()
      const end = await ended
      const what = `run ${run} of seed ${seed}: cut after ${after} ms`
      // devctl sends nothing to a builder that does not answer the first request.
      if (end.stderr.includes('error: no connection to ')) continue
      await expectBuilt(project, end, /2 images in the registry/, what, address)
      expect(end.stderr, what).not.toContain('attempt 3')
    }
  })
})

async function behindProxy(options: Omit<SlowOptions, 'address'>, address = buildkit) {
  const proxy = await TcpProxy.to(addressOf(address.replace(ENGINE, '')))
  onTestFinished(() => proxy.close())
  return {
    proxy,
    project: slowProject({
      address: `${address.startsWith(ENGINE) ? ENGINE : ''}tcp://127.0.0.1:${proxy.port}`,
      ...options,
    }),
  }
}

/** Checks that both images are in the registry under their digests and that nothing of lost builds still runs. */
async function expectBuilt(
  project: SlowProject,
  { status, stdout, stderr }: Ended,
  said: RegExp,
  what = '',
  address = buildkit,
) {
  expect(status, `${what}\n${stderr}`).toBe(0)
  expect(stderr, what).toMatch(said)
  const images = [...stdout.matchAll(/^(?:web|api): [^/]+\/(\S+):\S+@(sha256:\S+)$/gm)]
  expect(images, what).toHaveLength(2)
  for (const [, repository, digest] of images) {
    const answer = await fetch(`http://${REGISTRY}/v2/${repository}/manifests/${digest}`, {
      headers: {
        accept:
          'application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json',
      },
    })
    expect(answer.status, what).toBe(200)
  }
  await expectNothingRuns(address, project.mark, what)
}
