import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

const compose = (...schedules: readonly string[]) => `services:
  web: {image: "busybox:1.37", command: [sleep, "3600"], healthcheck: {test: "true"}}
jobs:
  backup:
    image: busybox:1.37
    depends_on: {web: {condition: service_healthy}}
    triggers: {schedule: [${schedules.join(', ')}]}
  import: {image: "busybox:1.37", triggers: {manual: true}}
`

async function good({ devctl }: Project, ...words: readonly [string, ...string[]]): Promise<string> {
  const { status, stdout, stderr } = await devctl(...words)
  expect(status, stderr).toBe(0)
  return stdout + stderr
}

const cronJobs = async ({ kubectl }: Project) =>
  kubectl('get', 'cronjobs', '--output=jsonpath={.items[*].metadata.name}')

describe.skipIf(cluster === undefined)('jobs', () => {
  playPods()
  afterAll(() => cluster?.close())

  test('the API server accepts their CronJobs, which are deployed, compared, pruned and destroyed', () =>
    withProject(cluster!, async project => {
      project.compose(compose('{cron: "*/15 8-18/2 * jan,7 mon-fri", timezone: Europe/Berlin}', '"@hourly"'))
      await good(project, 'deploy', '--wait')
      expect(await cronJobs(project)).toBe('backup backup-2 import')
      expect(await project.get('cronjob/import')).toMatchObject({ spec: { suspend: true } })
      expect(await good(project, 'deploy', '--wait')).toContain('up to date')
      expect(await good(project, 'diff')).toContain('nothing differs')
      expect(await good(project, 'ps', '--output', 'name'), 'ps lists services').toBe('web\n')
      expect(await good(project, 'restart'), 'a restart leaves jobs alone').toMatch(/^web of /m)

      project.compose(compose('{cron: "0 3 * * *", concurrency: forbid}'))
      expect(await good(project, 'diff')).toMatch(/- cronjob\/backup-2/)
      await good(project, 'deploy', '--wait')
      expect(await cronJobs(project)).toBe('backup import')
      expect(await project.get('cronjob/backup')).toMatchObject({
        spec: { schedule: '0 3 * * *', concurrencyPolicy: 'Forbid', startingDeadlineSeconds: 60 },
      })
      await good(project, 'destroy', '--wait')
      expect(await cronJobs(project)).toBe('')
    }))
})
