import { afterAll, describe, expect, test } from 'vitest'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { Program } from '../../support/cluster/program.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { deleteHeld, letGo } from './held.ts'

const cluster = findCluster()

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

/** Declares a test that only `npm run test:long` runs. */
const longIt: typeof it = (name, body) => longTest(name, () => withProject(cluster!, body))

/** A Deployment and a StatefulSet with a claim. */
const COMPOSE = `services:
  web:
    image: busybox:1.37
    expose: [8080]
    healthcheck: {http: {path: /ready, port: 8080}}
  db:
    image: busybox:1.37
    volumes: [data:/data]
    healthcheck: {http: {path: /ready, port: 8080}}
volumes: {data: {}}
`
/** Path of a health check: Pods with it get ready only in released namespaces. */
const LATER = '/later'
const NEVER = COMPOSE.replaceAll('/ready', LATER).replaceAll('port: 8080}', 'port: 8080}, start_period: 5m')

/** Namespaces in which all Pods become ready. */
const released = new Set<string | undefined>()
/** Namespaces in which no Pod ends. */
const lasting = new Set<string | undefined>()
const kubelet = playPods({
  isReady: ({ metadata, spec }) => released.has(metadata.namespace) || !JSON.stringify(spec).includes(LATER),
  mayEnd: ({ metadata }) => !lasting.has(metadata.namespace),
})

/** Starts a deploy as a separate process, whose output can be read while it runs. */
const startDeploy = ({ name, directory }: Project, ...args: readonly string[]) =>
  new Program(['deploy', '--name', name, '--namespace', name, '--timeout', '150s', ...args], {
    cwd: directory,
    env: { DEVCTL_HOME: `${directory}/.home` },
  }).read()

const untilTold = (program: Program, text: string | RegExp) =>
  eventually(
    `it says ${text}`,
    async () => (typeof text === 'string' ? program.stderr.includes(text) : text.test(program.stderr)) || undefined,
    { explain: async () => program.stderr, seconds: 270, pause: 50 },
  )

async function expectUpToDate({ devctl }: Project): Promise<void> {
  const diff = await devctl('diff', '--exit-code')
  expect(diff.status, diff.stdout + diff.stderr).toBe(0)
}

const uidsOf = async (project: Project, objects: readonly string[]) =>
  Promise.all(objects.map(async object => (await project.get(object)).metadata.uid))

describe.skipIf(cluster === undefined)('deploy of objects that are being deleted', () => {
  afterAll(() => cluster?.close())

  it('deploy waits until workloads and a Service are deleted, and creates them again', async project => {
    project.compose(COMPOSE)
    const objects = ['deployment/web', 'statefulset/db', 'service/web']
    expect(await project.devctl('deploy')).toMatchObject({ status: 0 })
    const before = await uidsOf(project, objects)
    await deleteHeld(project, ...objects)
    expect((await project.devctl('diff', '--exit-code')).status, 'there is something to do').toBe(3)
    const deploy = startDeploy(project, '--wait')
    const text = 'waiting until service/web is deleted: the finalizer `example.com/hold` blocks the deletion'
    await untilTold(deploy, text)
    await letGo(project, ...objects)
    expect(await deploy.status, deploy.stderr).toBe(0)
    expect(deploy.stderr).not.toContain('up to date')
    for (const [index, uid] of (await uidsOf(project, objects)).entries()) expect(uid).not.toBe(before[index])
    await expectUpToDate(project)
  })

  longIt('deploy reports a deleted claim that Pods use, and creates an unused one again', async project => {
    project.compose(COMPOSE)
    expect(await project.devctl('deploy', '--wait')).toMatchObject({ status: 0 })
    const claim = (await project.kubectl('get', 'pvc', '--output=name')).trim()
    const [before] = await uidsOf(project, [claim])
    await deleteHeld(project, claim)
    const held = await project.devctl('deploy')
    expect(held.status, held.stderr).toBe(1)
    expect(held.stderr).toMatch(/error: the claim `[\w-]+` is being deleted, but Pods still use it/)
    expect(held.stderr).toContain('pod/db-0')

    await project.kubectl('delete', '--wait=false', 'statefulset/db')
    const deploy = startDeploy(project, '--wait')
    await untilTold(deploy, /waiting until persistentvolumeclaim\/[\w-]+ is deleted/)
    await letGo(project, claim)
    expect(await deploy.status, deploy.stderr).toBe(0)
    expect(await uidsOf(project, [claim])).not.toEqual([before])
    await expectUpToDate(project)
  })

  if (TAKES_ALL)
    it('deploy creates all objects again after a destroy that did not wait', async project => {
      project.compose(COMPOSE)
      expect(await project.devctl('deploy', '--wait')).toMatchObject({ status: 0 })
      const objects = ['deployment/web', 'statefulset/db', 'service/web']
      const before = await uidsOf(project, objects)
      lasting.add(project.name)
      expect(await project.devctl('destroy', '--volumes')).toMatchObject({ status: 0 })
      const deploy = startDeploy(project, '--wait')
      await untilTold(deploy, /waiting until .* is deleted/)
      lasting.delete(project.name)
      kubelet.recheck()
      expect(await deploy.status, deploy.stderr).toBe(0)
      expect(deploy.stderr).not.toContain('up to date')
      for (const [index, uid] of (await uidsOf(project, objects)).entries()) expect(uid).not.toBe(before[index])
      await expectUpToDate(project)
    })

  it('deploy fails when a workload that it waits for is deleted', async project => {
    project.compose(NEVER)
    const deploy = startDeploy(project, '--wait')
    await untilTold(deploy, 'web: Deployment')
    await project.kubectl('delete', 'deployment/web')
    expect(await deploy.status, deploy.stderr).toBe(1)
    expect(deploy.stderr).toContain('error: `deployment/web` was deleted while devctl waited for it')
    expect(deploy.stderr).not.toContain('not done within')
  })

  longIt('deploy fails when a Service that it does not wait for is deleted meanwhile', async project => {
    project.compose(COMPOSE.replace('/ready', LATER))
    const deploy = startDeploy(project, '--wait')
    await untilTold(deploy, 'db: StatefulSet 1/1 ready')
    await project.kubectl('delete', 'service/web', `configmap/devctl-${project.name}`)
    released.add(project.name)
    kubelet.recheck()
    expect(await deploy.status, deploy.stderr).toBe(1)
    expect(deploy.stderr).toMatch(
      /error: `service\/web` and `configmap\/devctl-[\w-]+` were deleted while the deploy ran/,
    )
    expect(deploy.stderr).toContain('is partly deployed to')
    expect(await project.devctl('deploy', '--wait')).toMatchObject({ status: 0 })
    await expectUpToDate(project)
  })

  it('deploy names a namespace that is being deleted, at its start and while it waits', async project => {
    project.compose(NEVER)
    await project.kubectl('create', 'configmap', 'last')
    const deploy = startDeploy(project, '--wait')
    try {
      await untilTold(deploy, 'web: Deployment')
      await project.patch('configmap/last', { metadata: { finalizers: ['example.com/hold'] } })
      await project.kubectl('delete', 'namespace', project.name, '--wait=false')
      const began = Date.now()
      expect(await deploy.status, deploy.stderr).toBe(1)
      expect(Date.now() - began, deploy.stderr).toBeLessThan(20_000)
      expect(deploy.stderr).toContain(`\`${project.name}\` is being deleted`)
      expect(deploy.stderr).not.toContain('not done within')

      const { status, stderr } = await project.devctl('deploy')
      expect(status, stderr).toBe(1)
      expect(stderr).toContain(`error: the namespace \`${project.name}\` is being deleted`)
      expect(stderr).not.toContain('up to date')
    } finally {
      await letGo(project, 'configmap/last')
    }
  })
})
