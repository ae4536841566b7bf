import { afterAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const MANIFEST = `build:
  base: ./base
  api:
    context: ./api
    depends_on: base
    args: ["FROM_IMAGE=\${DEVCTL_BUILD_BASE_IMAGE}"]
    secrets: {token: {env: BUILD_TOKEN}}
deploy:
  - echo "api is $DEVCTL_BUILD_API_IMAGE"
`

function write({ write }: Project): void {
  write('devctl.yml', MANIFEST)
  write('base/Dockerfile', 'FROM busybox:1.37\nRUN echo base > /base\n')
  write(
    'api/Dockerfile',
    'ARG FROM_IMAGE\nFROM $FROM_IMAGE\nARG DEVCTL_BUILD_BASE_TAG\n' +
      'RUN --mount=type=secret,id=token cat /base && echo "tag $DEVCTL_BUILD_BASE_TAG" && wc -c < /run/secrets/token\n',
  )
}

const devctlIn =
  ({ name, directory }: Project) =>
  (command: string, ...args: readonly string[]) =>
    run([command, '--name', name, ...args], {
      cwd: directory,
      env: {
        KUBECONFIG: process.env.KUBECONFIG ?? '',
        DEVCTL_HOME: `${directory}/.home`,
        BUILDKIT_HOST: address!,
        DEVCTL_NAMESPACE: name,
        BUILD_TOKEN: 'twelve bytes',
      },
    })

describe.skipIf(cluster === undefined)('images in `build` of the manifest', () => {
  afterAll(() => cluster?.close())
  const registry = ['--registry', '127.0.0.1:5000/builds']

  test('manifest images are built in order, get variables of earlier images, and reach the commands', () =>
    withProject(cluster!, async project => {
      write(project)
      const devctl = devctlIn(project)
      const built = await devctl('build', ...registry, '--progress', 'plain')
      expect(built.status, built.stderr).toBe(0)
      const [base, api] = built.stdout.trim().split('\n')
      expect(base).toMatch(/^base: 127\.0\.0\.1:5000\/builds\/p[\d-]+-base:[0-9a-f]{12}@sha256:/)
      expect(built.stderr).toContain(`tag ${/:([0-9a-f]{12})@/.exec(base!)![1]}`)

      const again = await devctl('deploy', ...registry)
      expect(again.status, again.stderr).toBe(0)
      for (const name of ['base', 'api']) expect(again.stderr).toContain(`${name}: is in the registry already`)
      expect(again.stderr).toContain(`api is ${api!.slice('api: '.length)}`)

      // The tag of an image also covers the images that it depends on.
      if (!TAKES_ALL) return
      project.write('base/Dockerfile', 'FROM busybox:1.37\nRUN echo other > /base\n')
      const changed = await devctl('build', 'api', ...registry)
      expect(changed.status, changed.stderr).toBe(0)
      expect(changed.stdout).not.toContain(api)
    }))

  test('manifest images need a registry and a name that differs from services with `build`', () =>
    withProject(cluster!, async project => {
      write(project)
      const devctl = devctlIn(project)
      const { status, stderr } = await devctl('build')
      expect(status).toBe(1)
      expect(stderr).toContain('error[image/not-built]: no registry is set for the image of `base`')
      // Only commands use them, and `diff` runs none.
      expect((await devctl('diff')).stderr).not.toContain('image/not-built')
      project.write('devctl.yml', 'build: {web: ./base}\n')
      project.compose('services: {web: {build: base}}\n')
      const both = await devctl('build', ...registry)
      expect(both.stderr).toContain('`web` is an image of the manifest and a service with `build`')
      expect(both.status).toBe(1)
    }))
})
