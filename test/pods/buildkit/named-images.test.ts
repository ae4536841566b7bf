import { afterAll, describe, expect, test } from 'vitest'
import { resolveDigests } from '../../../adapters/registry/registry-client.ts'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'
import { PENDING } from '../develop/no-node.ts'

const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const REGISTRY = '127.0.0.1:5000/named'
const NO_BUILDER = 'tcp://127.0.0.1:9'

/**
 * Returns a Compose file with two services that share an image with a user-defined name. No Pods of them start: the
 * images are what is tested.
 */
const compose = (name: string, more = '') => `services:
  web:
    image: ${REGISTRY}/${name}:latest
    build: {context: web, tags: ["${REGISTRY}/${name}:stable"]}
    ${more}
    ${PENDING}
  worker:
    image: ${REGISTRY}/${name}
    command: [sleep, "1000"]
    ${PENDING}
`

function write({ name, compose: writeCompose, write }: Project): void {
  // No image is pulled instead of a build; nodes pull what is built.
  writeCompose(compose(name, 'pull_policy: never'))
  write('web/Dockerfile', 'FROM busybox:1.37\nCOPY a.txt /\nCMD ["sleep", "1000"]\n')
  write('web/a.txt', 'one\n')
}

const devctlIn =
  ({ name, directory }: Project, builder = address!) =>
  async (command: string, ...args: readonly string[]) => {
    const env = { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_HOME: `${directory}/.home`, DEVCTL_NAMESPACE: name }
    const ended = await run([command, '--name', name, ...args], {
      cwd: directory,
      env: { ...env, BUILDKIT_HOST: builder },
    })
    return { ...ended, said: `${ended.stdout}${ended.stderr}` }
  }

async function digestOf(name: string): Promise<string | undefined> {
  const resolved = await resolveDigests([name], { env: {}, signal: AbortSignal.timeout(60_000) })
  const answer = resolved.get(name)!
  return 'digest' in answer ? answer.digest : undefined
}

describe.skipIf(cluster === undefined)('an image with a user-defined name', () => {
  afterAll(() => cluster?.close())

  test('deploy builds a named image when its content changes, and retags earlier content', () =>
    withProject(cluster!, async project => {
      write(project)
      const { name } = project
      const digests = () => Promise.all(['latest', 'stable'].map(tag => digestOf(`${REGISTRY}/${name}:${tag}`)))
      const image = (workload: string) =>
        project.kubectl('get', 'deployment', workload, '--output=jsonpath={.spec.template.spec.containers[0].image}')
      const first = await devctlIn(project)('deploy')
      expect(first.status, first.said).toBe(0)
      expect(first.said).toContain('web: built')
      const one = await image('web')
      expect(one).toMatch(new RegExp(`^${REGISTRY}/${name}:latest@sha256:[0-9a-f]{64}$`))
      const policy = '--output=jsonpath={.spec.template.spec.containers[0].imagePullPolicy}'
      expect(await project.kubectl('get', 'deployment', 'web', policy)).toBe('IfNotPresent')
      const [digest] = one.split('@').slice(1)
      expect(await digests()).toEqual([digest, digest])
      // Services with the same image run the same build of it.
      expect(await image('worker')).toBe(one)

      // Nothing has changed: no builder is needed.
      for (const command of ['deploy', 'build']) {
        const again = await devctlIn(project, NO_BUILDER)(command)
        expect(again.status, again.said).toBe(0)
        expect(again.said).toContain('web: is in the registry already\n')
      }

      project.write('web/a.txt', 'two\n')
      const refused = await devctlIn(project, NO_BUILDER)('deploy')
      expect(refused.status).toBe(1)
      expect(refused.said).toContain(`\`--image web=${REGISTRY}/${name}:latest\` deploys it as it is`)
      const second = await devctlIn(project)('deploy')
      expect(second.status, second.said).toBe(0)
      expect(second.said).toContain('web: built')
      const two = await image('web')
      expect(two).not.toBe(one)
      const [newer] = two.split('@').slice(1)
      expect(await digests()).toEqual([newer, newer])

      // A deploy of one service keeps the digest in its image name.
      const part = await devctlIn(project, NO_BUILDER)('deploy', 'worker')
      expect(part.status, part.said).toBe(0)
      expect(await image('worker')).toBe(two)

      // The registry still has the first content.
      project.write('web/a.txt', 'one\n')
      const third = await devctlIn(project, NO_BUILDER)('deploy')
      expect(third.status, third.said).toBe(0)
      expect(third.said).toContain(
        `web: is in the registry already, and now also ${REGISTRY}/${name}:latest, ${REGISTRY}/${name}:stable`,
      )
      expect(await image('web')).toBe(one)
      expect(await digests()).toEqual([digest, digest])

      // An image in the registry is used with `pull_policy: missing`.
      project.write('web/a.txt', 'three\n')
      project.compose(compose(name, 'pull_policy: missing'))
      const taken = await devctlIn(project, NO_BUILDER)('deploy')
      expect(taken.status, taken.said).toBe(0)
      expect(await image('web')).toBe(one)
    }))

  longTest('an image with --tag is not built if an untagged image has the same content', () =>
    withProject(cluster!, async project => {
      project.compose('services:\n  web: {build: web}\n')
      project.write('web/Dockerfile', 'FROM busybox:1.37\nCMD ["sleep", "1000"]\n')
      const built = await devctlIn(project)('build', '--registry', REGISTRY)
      expect(built.status, built.said).toBe(0)
      const tagged = await devctlIn(project, NO_BUILDER)('build', '--registry', REGISTRY, '--tag', '1.4')
      expect(tagged.status, tagged.said).toBe(0)
      const name = `${REGISTRY}/${project.name}-web:1.4`
      expect(tagged.said).toContain(`now also ${name}`)
      expect(built.stdout.split('@')[1]).toBe(`${await digestOf(name)}\n`)

      // A deploy of that name uses the image unchanged.
      project.write('web/Dockerfile', 'FROM busybox:1.37\nENV CHANGED=1\nCMD ["sleep", "1000"]\n')
      const deployed = await devctlIn(project, NO_BUILDER)('deploy', '--registry', REGISTRY, '--tag', '1.4')
      expect(deployed.status, deployed.said).toBe(0)
      expect(deployed.said).toContain('web: is in the registry already\n')
      project.write('web/Dockerfile', 'FROM busybox:1.37\nCMD ["sleep", "1000"]\n')

      // A build with other options is another image.
      const other = await devctlIn(project)('build', '--registry', REGISTRY, '--build-arg', 'GREETING=hello')
      expect(other.said).toContain('web: built')
      expect(other.stdout).not.toBe(built.stdout)
      const same = await devctlIn(project, NO_BUILDER)('build', '--registry', REGISTRY, '--build-arg', 'GREETING=hello')
      expect(same.stdout).toBe(other.stdout)
    }),
  )

  longTest('a named manifest image is rebuilt only when an image that it depends on changes', () =>
    withProject(cluster!, async project => {
      const image = `${REGISTRY}/${project.name}-api:1`
      const dependent = 'depends_on: base, args: ["FROM_IMAGE=${DEVCTL_BUILD_BASE_IMAGE}"]'
      project.write(
        'devctl.yml',
        `build:\n  base: ./base\n  api: {context: ./api, image: "${image}", ${dependent}}\ndeploy: [echo]\n`,
      )
      project.write('base/Dockerfile', 'FROM busybox:1.37\nRUN echo one > /base\n')
      project.write('api/Dockerfile', 'ARG FROM_IMAGE\nFROM $FROM_IMAGE\n')
      const first = await devctlIn(project)('build', '--registry', REGISTRY)
      expect(first.status, first.said).toBe(0)
      const again = await devctlIn(project, NO_BUILDER)('build', '--registry', REGISTRY)
      expect(again.stdout).toBe(first.stdout)
      project.write('base/Dockerfile', 'FROM busybox:1.37\nRUN echo two > /base\n')
      const second = await devctlIn(project)('build', '--registry', REGISTRY)
      expect(second.said).toContain('api: built')
      expect(second.stdout).toContain(`api: ${image}@${await digestOf(image)}\n`)
      expect(first.stdout).not.toContain(await digestOf(image))
    }),
  )

  longTest('a build of several platforms under a new name retags the existing index', () =>
    withProject(cluster!, async project => {
      const { name } = project
      const file = (tag: string) =>
        `services:\n  web:\n    image: ${REGISTRY}/${name}:${tag}\n    build: {context: web, platforms: [linux/amd64, linux/arm64]}\n`
      project.compose(file('1'))
      project.write('web/Dockerfile', 'FROM scratch\nCOPY a.txt /\n')
      project.write('web/a.txt', 'one\n')
      const built = await devctlIn(project)('build')
      expect(built.status, built.said).toBe(0)
      project.compose(file('2'))
      const moved = await devctlIn(project, NO_BUILDER)('build')
      expect(moved.status, moved.said).toBe(0)
      const digest = await digestOf(`${REGISTRY}/${name}:2`)
      expect(built.stdout).toBe(`web: ${REGISTRY}/${name}:1@${digest}\n`)
      const response = await fetch(`http://127.0.0.1:5000/v2/named/${name}/manifests/2`, {
        headers: { accept: 'application/vnd.oci.image.index.v1+json' },
      })
      const { manifests } = (await response.json()) as { manifests: { platform: { architecture: string } }[] }
      expect(manifests.map(({ platform }) => platform.architecture)).toEqual(['amd64', 'arm64'])
    }),
  )

  test('deploy refuses an official Docker Hub image name before it builds anything', () =>
    withProject(cluster!, async project => {
      project.compose('services:\n  web: {build: web, image: web}\n')
      project.write('web/Dockerfile', 'FROM scratch\n')
      const refused = await devctlIn(project, NO_BUILDER)('deploy', '--build')
      expect(refused.status).toBe(1)
      expect(refused.said).toContain('error[image/official-name]')
    }))
})
