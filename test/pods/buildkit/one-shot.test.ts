import { afterAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'

const REGISTRY = '127.0.0.1:5000/builds'
const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('a one-shot in the Pod of another service', () => {
  afterAll(() => cluster?.close())

  test('the program of an image that was not built from the project runs once, and the Pod is ready', () =>
    withProject(cluster!, async ({ name, directory, compose, write, kubectl }) => {
      const env = {
        KUBECONFIG: process.env.KUBECONFIG ?? '',
        DEVCTL_HOME: `${directory}/.home`,
        BUILDKIT_HOST: address!,
        DEVCTL_NAMESPACE: name,
      }
      const devctl = (...args: readonly string[]) => run(args, { cwd: directory, env })
      const tool = `${REGISTRY}/${name}-tool:1`
      write('tool/start', '#!/bin/sh\necho "ran $*"\nsleep 1\n')
      write('tool/Dockerfile', 'FROM busybox:1.37\nCOPY --chmod=755 start /start\nENTRYPOINT ["/start"]\nCMD ["all"]\n')
      const built = await devctl('build', '-f', 'tool/Dockerfile', '--tag', tool, 'tool')
      expect(built.status, built.stderr).toBe(0)

      compose(`services:
  main:
    image: busybox:1.37
    command: [httpd, -f, -p, "8080", -h, /etc]
    healthcheck: {test: [CMD, wget, -qO, /dev/null, "http://localhost:8080/passwd"], interval: 1s}
    stop_grace_period: 0s
  migrate: {image: "${tool}", command: migrate, network_mode: "service:main"}
  import: {image: "${tool}", restart: "no", pid: "service:main"}
  retry: {image: "${tool}", command: retry, restart: on-failure, ipc: "service:main"}
`)
      // Offline, the programs are not known.
      const rendered = await devctl('render', '--name', name)
      expect(rendered.stdout).not.toContain('/start')
      expect(rendered.stderr).toContain('without it, `deploy` asks the registry')

      const deployed = await devctl('deploy', '--name', name, '--wait')
      expect(deployed.status, deployed.stderr).toBe(0)
      expect(deployed.stderr).not.toMatch(/warning|is not known/)
      const log = (container: string) => kubectl('logs', 'deployment/main', `--container=${container}`)
      const ended = (container: string) =>
        expect.poll(() => log(container), { timeout: 60_000 }).toContain('its container stays')
      for (const [container, words] of [
        ['migrate', 'migrate'],
        ['import', 'all'],
        ['retry', 'retry'],
      ] as const) {
        await ended(container)
        expect((await log(container)).match(/^ran .*$/gm)).toEqual([`ran ${words}`])
      }
      const restarts = '--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}'
      expect(await kubectl('get', 'pods', restarts)).toBe('0 0 0 0')
      expect(await kubectl('get', 'deployment', 'main', '--output=jsonpath={.status.readyReplicas}')).toBe('1')
      expect((await devctl('diff', '--name', name, '--exit-code')).status).toBe(0)
    }))
})
