import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

/** A service with a health check: without one, it has to run for 13 s before a deploy calls it ready. */
const SLEEP = 'image: busybox:1.37\n    command: [sleep, "3600"]\n    healthcheck: {test: "true"}'

const compose = ({ web = '1', worker = '1', more = '' } = {}) => `services:
  web:
    ${SLEEP}
    environment: {A: "${web}"}
    depends_on: [api]
  api:
    ${SLEEP}
    depends_on: {migrate: {condition: service_completed_successfully}}
    configs: [page]
  migrate:
    image: busybox:1.37
    command: ["true"]
    restart: "no"
  worker:
    ${SLEEP}
    environment: {A: "${worker}"}
    volumes: [data:/data]
    depends_on: [api]
${more}
configs: {page: {content: hello}}
volumes: {data: {}}
`

async function good({ devctl }: Project, command: string, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await devctl(command, ...args)
  expect(status, stderr).toBe(0)
  return stdout + stderr
}

const names = async ({ kubectl }: Project, kinds: string) =>
  (await kubectl('get', kinds, '--output=jsonpath={.items[*].metadata.name}')).split(' ').filter(Boolean).sort()

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

describe.skipIf(cluster === undefined)('a part of an application', () => {
  playPods()
  afterAll(() => cluster?.close())

  it('a part is deployed and compared alone, and a deploy of the whole finds it up to date', async project => {
    project.compose(compose())
    expect(await good(project, 'deploy', '--wait', 'api')).toMatch(/api of [\w-]+ is deployed to/)
    expect(await names(project, 'deployments,statefulsets')).toEqual(['api'])
    const [job] = await names(project, 'jobs')
    expect(await good(project, 'deploy', '--wait')).toMatch(/is deployed to/)
    expect(await names(project, 'deployments,statefulsets')).toEqual(['api', 'web', 'worker'])
    expect(await names(project, 'jobs'), 'the Job is the same one').toEqual([job])

    project.compose(compose({ web: '2', worker: '2' }))
    const before = await project.get('statefulset/worker')
    const diff = await good(project, 'diff', 'web')
    expect(diff).toContain('deployment/web')
    expect(diff).not.toContain('worker')
    expect(await good(project, 'deploy', '--wait', 'web', 'api')).toMatch(/web, api of [\w-]+ are deployed to/)
    expect(await good(project, 'diff', 'web')).toContain('nothing differs')
    expect((await project.get('statefulset/worker')).metadata.resourceVersion).toBe(before.metadata.resourceVersion)

    project.compose(compose({ web: '2', worker: '2' }).replace(/ {2}worker:[\s\S]*?(?=configs: \{page)/, ''))
    expect(await good(project, 'deploy', 'web')).toContain('up to date')
    expect(await names(project, 'statefulsets'), 'nothing is pruned').toEqual(['worker'])
    project.compose(compose({ web: '2', worker: '1' }))
    expect(await good(project, 'deploy', '--wait')).toContain('up to date')
  })

  it('a part must exist in the files, and a name selects a service behind a profile', async project => {
    project.compose(compose({ more: `  debug:\n    ${SLEEP}\n    profiles: [tools]\n` }))
    const wrong = await project.devctl('deploy', 'wbe')
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('service `wbe` does not exist') })
    expect(wrong.stderr).toContain('did you mean `web`?')
    await good(project, 'deploy', '--wait', 'debug')
    expect(await names(project, 'deployments')).toEqual(['debug'])
  })

  it('a part is restarted and destroyed while the other services keep running', async project => {
    project.compose(compose())
    await good(project, 'deploy', '--wait')
    const pods = async (service: string) =>
      project.kubectl(
        'get',
        'pods',
        `--selector=dev.platform/service=${service}`,
        '--output=jsonpath={.items[*].metadata.uid}',
      )
    const before = { web: await pods('web'), worker: await pods('worker') }
    expect(await good(project, 'restart', '--wait', 'worker')).toMatch(/worker of [\w-]+ is restarted/)
    expect(await pods('worker')).not.toBe(before.worker)
    expect(await pods('web')).toBe(before.web)
    expect(await good(project, 'deploy', '--wait'), 'the restart is not taken back').toContain('up to date')
    const job = await project.devctl('restart', 'migrate')
    expect(job).toMatchObject({ status: 1, stderr: expect.stringContaining('devctl deploy --rerun migrate') })

    const refused = await project.devctl('destroy', 'api')
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('`web` depends on `api`') })
    expect(await good(project, 'destroy', '--wait', 'worker')).toMatch(/worker of [\w-]+ is destroyed/)
    expect(await names(project, 'deployments,statefulsets')).toEqual(['api', 'web'])
    expect(await names(project, 'pvc')).toEqual(['data'])
    expect(await good(project, 'diff')).not.toMatch(/(web|api|migrate)\b.*differ/)
    expect(await good(project, 'deploy', '--wait')).toContain('is deployed to')
    expect(await names(project, 'statefulsets')).toEqual(['worker'])
    expect(await good(project, 'destroy', '--yes', '--volumes', '--wait', 'api', 'worker')).toContain('are destroyed')
    expect(await names(project, 'deployments,statefulsets,pvc,configmaps')).toEqual(
      expect.not.arrayContaining(['api', 'data', 'worker']),
    )
  })
})
