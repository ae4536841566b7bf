import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'

const cluster = findCluster()

const PASSWORD = 'a password that nobody may see'
const AUTH = Buffer.from(`ann:${PASSWORD}`).toString('base64')

describe.skipIf(cluster === undefined)('deploy --registry-credentials', () => {
  playPods()
  afterAll(() => cluster?.close())

  // The registry of the test cluster requires no credentials, so the test can only show that Pods start with them.
  test('deploy creates a pull secret that Pods start with, and prunes it without the option', () =>
    withProject(cluster!, async project => {
      const { name, directory, kubectl } = project
      project.compose(`services:
  web:
    image: 127.0.0.1:5000/library/busybox:1.37
    command: [sleep, "1000"]
    healthcheck: {test: "true"}
  api:
    image: busybox:1.37
    command: [sleep, "1000"]
    healthcheck: {test: "true"}
`)
      const auths = { '127.0.0.1:5000': { auth: AUTH }, 'unused.example.com': { auth: AUTH } }
      project.write('docker/config.json', JSON.stringify({ auths }))
      let said = ''
      const devctl = async (command: string, ...args: readonly string[]) => {
        const env = {
          KUBECONFIG: process.env.KUBECONFIG ?? '',
          DEVCTL_HOME: `${directory}/.home`,
          DOCKER_CONFIG: `${directory}/docker`,
        }
        const result = await run([command, '--name', name, '--namespace', name, ...args], { cwd: directory, env })
        said += result.stdout + result.stderr
        return result
      }
      const asked = ['--registry-credentials', '--loglevel', 'debug']

      const before = await devctl('diff', ...asked)
      expect(before.stdout).toContain(`secret/${name}-registry`)
      const first = await devctl('deploy', '--wait', ...asked)
      expect(first.status, first.stderr).toBe(0)
      expect(first.stderr.match(/no credentials for docker\.io: pulled without/g)).toHaveLength(1)

      const secret = JSON.parse(await kubectl('get', 'secret', `${name}-registry`, '--output=json'))
      expect(secret.type).toBe('kubernetes.io/dockerconfigjson')
      expect(JSON.parse(Buffer.from(secret.data['.dockerconfigjson'], 'base64').toString())).toEqual({
        auths: { '127.0.0.1:5000': { auth: AUTH, username: 'ann', password: PASSWORD } },
      })
      const pulls = await kubectl(
        'get',
        'pods',
        '--output=jsonpath={range .items[*]}{.spec.imagePullSecrets[*].name} {end}',
      )
      expect(pulls.trim()).toBe(`${name}-registry`)

      expect((await devctl('deploy', ...asked)).stderr).toContain('is up to date')
      expect((await devctl('diff', '--exit-code', ...asked)).status).toBe(0)
      auths['127.0.0.1:5000'] = { auth: Buffer.from('ann:another password').toString('base64') }
      project.write('docker/config.json', JSON.stringify({ auths }))
      expect((await devctl('diff', ...asked)).stdout).toMatch(/\*\*\* \(changed, \d+ → \d+ bytes\)/)

      const without = await devctl('deploy', '--wait')
      expect(without.stderr).toContain(`pruned secret/${name}-registry`)
      expect((await devctl('render', '--include-secrets')).stdout).not.toContain('imagePullSecrets')
      for (const secret of [PASSWORD, AUTH, 'another password']) expect(said).not.toContain(secret)
    }))
})
