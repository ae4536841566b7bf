import { afterAll, describe, expect, test } from 'vitest'
import { ENGINE, findBuildkit, findEngineAddress } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'
import { PENDING } from '../develop/no-node.ts'

const buildkit = findBuildkit() ?? ''
const engine = findEngineAddress() ?? ''
const found = buildkit === '' ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
afterAll(() => cluster?.close())

/** Dockerfile whose step runs on the platform of the builder, whatever the platform of the image. */
const DOCKERFILE = `FROM --platform=$BUILDPLATFORM busybox:1.37 AS build
ARG TARGETPLATFORM
RUN echo "$TARGETPLATFORM" > /platform
FROM scratch
COPY --from=build /platform /
EXPOSE 8080
CMD ["/none"]
`
const FILES = {
  'compose.yaml': `services:\n  web:\n    build: {context: web, network: host, platforms: [linux/amd64, linux/arm64]}\n`,
  'web/Dockerfile': DOCKERFILE,
}

describe.skipIf(cluster === undefined)('an image for several platforms', () => {
  test('an image for several platforms is one index whose digest is reported, rendered and deployed', () =>
    withProject(cluster!, async ({ name, directory, kubectl }) => {
      const compose = `${FILES['compose.yaml'].replace(', network: host', '')}    ${PENDING}\n`
      write(directory, { ...FILES, 'compose.yaml': compose })
      const env = {
        KUBECONFIG: process.env.KUBECONFIG ?? '',
        DEVCTL_HOME: `${directory}/.home`,
        DEVCTL_NAMESPACE: name,
        BUILDKIT_HOST: buildkit,
      }
      const devctl = (command: string, ...args: readonly string[]) =>
        run([command, '--name', name, '--registry', `${REGISTRY}/platforms`, ...args], { cwd: directory, env })

      const built = await devctl('build', '--metadata-file', 'images.json')
      expect(built.status, built.stderr).toBe(0)
      const [, image = '', repository = '', digest = ''] =
        /^web: ([^/]+\/(\S+):\S+@(sha256:[0-9a-f]{64}))\n$/.exec(built.stdout) ?? []
      const index = await manifest(repository, digest)
      expect(index.mediaType).toBe('application/vnd.oci.image.index.v1+json')
      const platforms = index.manifests.map(({ platform: { os, architecture } }) => `${os}/${architecture}`)
      expect(platforms).toEqual(['linux/amd64', 'linux/arm64'])
      const layers = await Promise.all(
        index.manifests.map(async one => (await manifest(repository, one.digest)).layers),
      )
      expect(new Set(layers.map(([layer]) => layer!.digest)).size).toBe(2)

      const rendered = await devctl('render', '--images-file', 'images.json')
      expect(rendered.stdout).toContain(`image: ${image}\n`)
      const deployed = await devctl('deploy')
      expect(deployed.status, deployed.stderr).toBe(0)
      expect(deployed.stderr).toContain('web: is in the registry already')
      const path = '--output=jsonpath={.spec.template.spec.containers[0].image}'
      expect(await kubectl('get', 'deployment', 'web', path)).toBe(image)
      // The ports come from the configuration behind the index.
      expect(await kubectl('get', 'service', 'web', '--output=jsonpath={.spec.ports[*].port}')).toBe('8080')

      // A different set of platforms makes a different image.
      if (!TAKES_ALL) return
      const one = await devctl('build', '--platform', 'linux/arm64')
      expect(one.stderr).toContain('web: built')
      const [, single = ''] = /@(sha256:[0-9a-f]{64})\n$/.exec(one.stdout) ?? []
      expect((await manifest(repository, single)).mediaType).toBe('application/vnd.oci.image.manifest.v1+json')
      const both = await devctl('build', '--platform', 'linux/amd64,linux/arm64')
      expect(both.stdout, both.stderr).toContain(digest)
    }))
})

describe.skipIf(engine === '')(
  'an image for several platforms in a Docker Engine without the store of containerd',
  () => {
    test('several platforms are refused with a suggestion, and a single platform is built', async () => {
      const folder = makeFolder(FILES)
      const env = { DOCKER_HOST: engine.slice(ENGINE.length), DEVCTL_HOME: `${folder}/.home` }
      const build = (...args: readonly string[]) =>
        run(['build', '--registry', `${REGISTRY}/platforms`, ...args], { cwd: folder, env })
      const refused = await build()
      expect(refused.status).toBe(1)
      expect(refused.stderr).toContain(
        'cannot hold an image for several platforms: that needs the containerd image store, or a BuildKit of its own; ' +
          'one platform works, for example `--platform linux/amd64`',
      )
      const one = await build('--platform', 'linux/amd64')
      expect(one.status, one.stderr).toBe(0)
    })
  },
)

interface Manifest {
  readonly mediaType: string
  readonly manifests: readonly { digest: string; platform: { os: string; architecture: string } }[]
  readonly layers: readonly { digest: string }[]
}

const FORMS = ['index', 'manifest'].map(form => `application/vnd.oci.image.${form}.v1+json`).join(', ')

async function manifest(repository: string, digest: string): Promise<Manifest> {
  const answer = await fetch(`http://${REGISTRY}/v2/${repository}/manifests/${digest}`, { headers: { accept: FORMS } })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Manifest
}
