import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

const SERVICE = 'image: busybox:1.37\n    command: [sleep, "3600"]'

describe.skipIf(cluster === undefined)('warnings of a deploy', () => {
  playPods()
  afterAll(() => cluster?.close())

  test('deploy prints a warning again only when it changed since the last deploy', () =>
    withProject(cluster!, async ({ compose, devctl, get, name }) => {
      const file = (web: string, more = '') => `services:\n  web:\n    ${SERVICE}\n${web}${more}`
      const said = async (...argv: readonly string[]) => {
        const { status, stderr, stdout } = await devctl('deploy', ...argv)
        expect(status, stderr).toBe(0)
        return stdout + stderr
      }
      const warning = /^warning\[\S+\]: .*cpuset/m
      const unchanged = '1 warning unchanged since the last deploy; `devctl deploy --all-warnings` prints all'
      compose(file('    cpuset: "0"\n'))
      expect(await said()).toMatch(warning)
      const { data } = (await get(`configmap/devctl-${name}`)) as unknown as { data: Readonly<Record<string, string>> }
      expect(data.warnings).toMatch(/^[0-9a-f]{12}$/)

      compose(`# The warning moves to another line.\n${file('    cpuset: "0"\n')}`)
      const again = await said()
      expect(again).not.toMatch(warning)
      expect(again).toContain(unchanged)
      expect(await said('--all-warnings')).toMatch(warning)
      expect(await said('--output', 'json')).toContain('cpuset')

      // A new warning changes nothing in the cluster, but it is stored nevertheless.
      const second = '  api:\n    image: busybox:1.37\n    command: [sleep, "3600"]\n'
      compose(file('    cpuset: "0"\n', second))
      await said()
      compose(file('    cpuset: "0"\n', `${second}    cpuset: "0"\n`))
      const fresh = await said()
      expect(fresh).toMatch(warning)
      expect(fresh).toContain(unchanged)
      expect(await said()).toContain('2 warnings unchanged')
      expect(await said('api')).not.toMatch(warning)
      expect(await said(), 'a part forgets nothing').toContain('2 warnings unchanged')

      compose(file('', second))
      expect(await said()).not.toContain('unchanged since')
      compose(file('    cpuset: "0"\n', second))
      expect(await said(), 'a warning that comes back is new').toMatch(warning)
    }))

  test('deploy without a domain names the published ports that have no public address', () =>
    withProject(cluster!, async ({ compose, devctl, name }) => {
      compose(
        `services:\n  web:\n    ${SERVICE}\n    ports: ["8080:80"]\n  api:\n    ${SERVICE}\n    ports: ["9000:9000"]\n`,
      )
      const { status, stderr } = await devctl('deploy')
      expect(status, stderr).toBe(0)
      expect(stderr).toMatch(
        /2 routes not created or changed: no domain is set \(.*\), so port \d+ of \w+, port \d+ of \w+ have no public address/,
      )
      expect((await devctl('endpoints')).stderr).toContain(
        `${name} has no endpoints in ${name}: no domain is set, so published ports get no public address`,
      )
    }))
})
