import { afterAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { PENDING } from '../develop/no-node.ts'

const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('the configuration of a built image', () => {
  afterAll(() => cluster?.close())

  test('deploy uses ports, the healthcheck and volumes of base images', () =>
    withProject(cluster!, async ({ name, directory, compose, write, kubectl }) => {
      compose(`services:
  base: {build: base, profiles: [base]}
  web:
    build: {context: web, additional_contexts: {base: "service:base"}}
    stop_grace_period: 1s
    ${TAKES_ALL ? '' : PENDING}
`)
      write('base/Dockerfile', 'FROM busybox:1.37\nEXPOSE 8081\nVOLUME /data\nHEALTHCHECK --interval=2s CMD ["true"]\n')
      write('web/Dockerfile', 'FROM base\nCMD ["sleep", "1000"]\n')
      const devctl = (command: string, ...args: readonly string[]) =>
        run([command, '--name', name, '--registry', '127.0.0.1:5000/builds', ...args], {
          cwd: directory,
          env: {
            KUBECONFIG: process.env.KUBECONFIG ?? '',
            DEVCTL_HOME: `${directory}/.home`,
            BUILDKIT_HOST: address!,
            DEVCTL_NAMESPACE: name,
          },
        })

      // The Dockerfile of the service does not contain them.
      expect((await devctl('render')).stdout).not.toMatch(/8081|readinessProbe/)
      const { status, stderr } = await devctl('deploy', ...(TAKES_ALL ? ['--wait'] : []))
      expect(status, stderr).toBe(0)
      expect(stderr).toContain('warning[volumes/of-image]: the image of `web` has a volume at `/data`')
      expect(await kubectl('get', 'service', 'web', '--output=jsonpath={.spec.ports[*].port}')).toBe('8081')
      const probe = '--output=jsonpath={.spec.template.spec.containers[0].readinessProbe.exec.command}'
      expect(await kubectl('get', 'deployment', 'web', probe)).toBe('["true"]')
      expect((await devctl('diff', '--exit-code')).status).toBe(0)
    }))

  longTest('deploy uses the configuration of images without `build` in the same registry', () =>
    withProject(cluster!, async ({ name, directory, compose, write, kubectl }) => {
      const registry = '127.0.0.1:5000/builds'
      const env = {
        KUBECONFIG: process.env.KUBECONFIG ?? '',
        DEVCTL_HOME: `${directory}/.home`,
        BUILDKIT_HOST: address!,
        DEVCTL_NAMESPACE: name,
      }
      const devctl = (...args: readonly string[]) => run(args, { cwd: directory, env })
      write('tool/Dockerfile', 'FROM busybox:1.37\nEXPOSE 7070\nVOLUME /data\nCMD ["sleep", "1000"]\n')
      const tool = `${registry}/${name}-tool:1`
      const built = await devctl('build', '-f', 'tool/Dockerfile', '--tag', tool, 'tool')
      expect(built.status, built.stderr).toBe(0)
      write('web/Dockerfile', 'FROM busybox:1.37\nCMD ["sleep", "1000"]\n')
      compose(`services:
  web: {build: web, stop_grace_period: 1s}
  tool: {image: "${tool}", stop_grace_period: 1s}
  gone: {image: "${registry}/${name}-gone:1", scale: 0}
`)
      const deployed = await devctl('deploy', '--name', name, '--registry', registry)
      expect(deployed.status, deployed.stderr).toBe(0)
      expect(deployed.stderr).toContain('warning[volumes/of-image]: the image of `tool` has a volume at `/data`')
      // The image that is not built from this project causes no warning.
      expect(deployed.stderr).not.toContain('gone:1')
      const port = () => kubectl('get', 'service', 'tool', '--output=jsonpath={.spec.ports[*].port}')
      expect(await port()).toBe('7070')
      // A deploy of a part changes nothing.
      const part = await devctl('deploy', 'tool', '--name', name, '--registry', registry)
      expect(part.stderr).toContain('is up to date')
      expect(await port()).toBe('7070')
    }),
  )
})
