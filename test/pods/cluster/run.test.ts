import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const compose = `services:
  web:
    image: busybox:1.37
    entrypoint: [sh, -c]
    command: ["httpd -f -p 8080"]
    environment: {COLOUR: blue, SIZE: small}
    expose: ["8080"]
    healthcheck: {test: "true"}
    stop_grace_period: 1s
jobs:
  fail:
    image: busybox:1.37
    command: [sh, -c, 'echo "the job fails"; exit 3']
    depends_on: {web: {condition: service_healthy}}
    triggers: {manual: true}
  broken: {image: "busybox:1.37", command: [no-such-program], triggers: {manual: true}}
`

describe.skipIf(cluster === undefined)('devctl run', () => {
  afterAll(() => cluster?.close())

  test('prints the output of a job or a command, and passes on its exit status', () =>
    withProject(cluster!, async project => {
      project.compose(compose)
      const { devctl, kubectl } = project
      const early = await devctl('run', 'fail')
      expect(early.stderr).toContain('not deployed')
      expect(early.status).toBe(1)
      expect((await devctl('deploy', '--wait')).status).toBe(0)

      const job = await devctl('run', 'fail')
      expect(job.stdout, job.stderr).toBe('the job fails\n')
      expect(job.status).toBe(3)
      const names = '--output=jsonpath={.items[*].metadata.ownerReferences[0].name}'
      expect(await kubectl('get', 'jobs', names), 'the run is kept').toBe('fail')

      const command = await devctl('run', '--rm', '-e', 'SIZE=big', 'web', '--', 'echo $COLOUR $SIZE')
      expect(command.stdout, command.stderr).toBe('blue big\n')
      expect(command.status).toBe(0)
      expect(await kubectl('get', 'jobs', names), '--rm deletes the run').toBe('fail')

      const detached = await devctl('run', '--detach', 'web', '--', 'sleep 600')
      expect(detached.stdout).toMatch(/^web-run-[0-9a-f]{8}\n$/)
      const addresses = '--output=jsonpath={.subsets[*].addresses[*].targetRef.name}'
      expect(await kubectl('get', 'endpoints/web', addresses), 'no traffic goes to a run').not.toContain('run')

      const broken = await devctl('run', 'broken')
      expect(broken.status).not.toBe(0)
      expect(broken.stderr).toContain('no-such-program')

      expect((await devctl('destroy', '--wait')).status).toBe(0)
      expect(await kubectl('get', 'cronjobs', '--output=name')).toBe('')
    }))
})
