import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

/** Services in a chain of `restart: true`, one that depends without it, and a Job that is restarted with `db`. */
const compose = (level: string) => `services:
  web: {${SLEEP}, depends_on: {api: {condition: service_started, restart: true}}}
  api: {${SLEEP}, depends_on: {db: {condition: service_healthy, restart: true}}}
  other: {${SLEEP}, depends_on: {db: {condition: service_healthy}}}
  db: {${SLEEP}, environment: {LEVEL: "${level}"}, expose: ["5432"]}
  seed: {image: "busybox:1.37", command: ["true"], restart: "no", depends_on: {db: {condition: service_healthy, restart: true}}}
`

/** A service with a health check: without one, it has to run for 13 s before a deploy calls it ready. */
const SLEEP = 'image: "busybox:1.37", command: [sleep, "3600"], healthcheck: {test: "true"}'

async function good({ devctl }: Project, ...words: readonly [string, ...string[]]): Promise<string> {
  const { status, stdout, stderr } = await devctl(...words)
  expect(status, stderr).toBe(0)
  return stdout + stderr
}

/** Returns the generation of each Deployment, which counts the changes of its specification. */
async function generations(project: Project): Promise<Readonly<Record<string, number>>> {
  const names = ['web', 'api', 'other', 'db']
  const objects = await Promise.all(names.map(name => project.get(`deployment/${name}`)))
  return Object.fromEntries(names.map((name, index) => [name, objects[index]!.metadata.generation!]))
}

const jobs = async ({ kubectl }: Project) => kubectl('get', 'jobs', '--output=jsonpath={.items[*].metadata.name}')

describe.skipIf(cluster === undefined)('restart: true of a dependency', () => {
  playPods()
  afterAll(() => cluster?.close())

  test.concurrent('a changed Pod template rolls the dependants after it, and those of the dependants', () =>
    withProject(cluster!, async project => {
      project.compose(compose('1'))
      await good(project, 'deploy', '--wait')
      const [before, job] = [await generations(project), await jobs(project)]
      expect(await good(project, 'deploy', '--wait')).toContain('up to date')

      project.compose(compose('2'))
      expect(await good(project, 'diff')).toMatch(/deployment\/web[\s\S]*dev\.platform\/restarts-with/)
      const lines = (await good(project, 'deploy', '--wait')).split('\n')
      const at = (service: string) => lines.findIndex(line => line.includes(`${service}: Deployment 1/1 ready`))
      expect(
        [at('db'), at('api'), at('web')].every(line => line >= 0),
        lines.join('\n'),
      ).toBe(true)
      expect(at('db')).toBeLessThan(at('api'))
      expect(await generations(project)).toEqual({
        ...{ web: before['web']! + 1, api: before['api']! + 1, db: before['db']! + 1 },
        other: before['other'],
      })
      expect(await jobs(project), 'the Job runs again').not.toBe(job)
    }))

  test.concurrent('restart of the dependency restarts its dependants, but not their Jobs', () =>
    withProject(cluster!, async project => {
      project.compose(compose('1'))
      await good(project, 'deploy', '--wait')
      const [before, job] = [await generations(project), await jobs(project)]
      expect(await good(project, 'restart', '--wait', 'db')).toContain('api, db, web')
      expect(await generations(project)).toEqual({
        ...{ web: before['web']! + 1, api: before['api']! + 1, db: before['db']! + 1 },
        other: before['other'],
      })
      expect(await jobs(project)).toBe(job)
      expect(await good(project, 'deploy', '--wait'), 'the restart is not taken back').toContain('up to date')
    }))
})
