import { afterAll, describe, expect, test } from 'vitest'
import { type Cluster, eventually, findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { few, longTest } from '../../support/takes-all.ts'

const cluster = findCluster()

/** A service with a health check: without one, it has to run for 13 s before a deploy calls it ready. */
const SLEEP = 'image: busybox:1.37\n    command: [sleep, "3600"]\n    healthcheck: {test: "true"}'

/** Namespaces whose Pods are not ready yet. */
const starting = new Set<string | undefined>()
const kubelet = playPods({ isReady: ({ metadata }) => !starting.has(metadata.namespace) })

async function deploy({ devctl }: Project, ...args: readonly string[]): Promise<string> {
  const { status, stderr } = await devctl('deploy', '--wait', ...args)
  expect(status, stderr).toBe(0)
  return stderr
}

/** Returns the output of a diff, and fails if the diff changed anything. */
async function diff({ devctl }: Project, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await devctl('diff', ...args)
  expect(status, stderr).toBe(0)
  return stdout
}

const it = (name: string, body: (project: Project, cluster: Cluster) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, project => body(project, cluster!)))

/** Declares a test that only `npm run test:long` runs. */
const longIt: typeof it = (name, body) =>
  longTest(name, () => withProject(cluster!, project => body(project, cluster!)))

describe.skipIf(cluster === undefined)('deploy of changes that Kubernetes does not allow', () => {
  afterAll(() => cluster?.close())

  it('the workload of a service that changes its kind is deleted before the new one is created', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    await deploy(project)
    project.compose(`services:\n  web:\n    ${SLEEP}\n    volumes: [data:/data]\nvolumes: {data: {}}\n`)
    expect(await diff(project)).toMatch(/- deployment\/web +deleted before its successor is created/)
    await deploy(project)
    await expect(project.get('deployment/web')).rejects.toThrow('not found')
    expect((await project.get('statefulset/web')).status).toMatchObject({ readyReplicas: 1 })

    project.compose(`services:\n  web:\n    ${SLEEP}\n    deploy: {mode: global}\n`)
    await deploy(project)
    await expect(project.get('statefulset/web')).rejects.toThrow('not found')
    expect((await project.get('pvc/data')).metadata.name, 'the data stays').toBe('data')
  })

  longIt('deploy replaces a Service that loses its ports, or gets ports', async project => {
    const [plain, open] = [`services:\n  web:\n    ${SLEEP}\n`, `services:\n  web:\n    ${SLEEP}\n    expose: ["80"]\n`]
    const clusterIP = async () => (await project.get('service/web')).spec['clusterIP']
    project.compose(plain)
    await deploy(project)
    expect(await clusterIP()).toBe('None')
    project.compose(open)
    expect(await diff(project)).toMatch(/! service\/web +a Service cannot become headless or stop being headless/)
    await deploy(project)
    expect(await clusterIP()).not.toBe('None')
    project.compose(plain)
    await deploy(project)
    expect(await clusterIP()).toBe('None')
  })

  longIt('deploy runs a complete Job again on request, when it has changed, and after a failure', async project => {
    const job = (command: string) =>
      project.compose(
        `services:\n  job:\n    image: busybox:1.37\n    command: [sh, -c, "${command}"]\n    restart: "no"\n`,
      )
    const jobs = async () =>
      (await project.kubectl('get', 'jobs', '--output=jsonpath={.items[*].metadata.uid}')).split(' ')
    job('exit 0')
    await deploy(project)
    const [first] = await jobs()
    expect(await deploy(project)).toContain('is up to date')
    expect(await jobs(), 'an unchanged Job does not run again').toEqual([first])
    expect(await diff(project, '--rerun', 'job')).toMatch(/! job\/job-\w+ +the Job runs again/)
    await deploy(project, '--rerun', 'job')
    const [second] = await jobs()
    expect(second).not.toBe(first)

    job('exit 3')
    const failed = await project.devctl('deploy', '--wait')
    expect(failed.status).toBe(1)
    expect(failed.stderr).toContain('error[deploy/failed]: `job` has failed')
    expect(failed.stderr).toContain('compose.yaml:2:3')
    const [third, ...others] = await jobs()
    expect(others, 'the predecessor is gone').toEqual([])
    expect(await diff(project)).toMatch(/! job\/job-\w+ +the Job failed and runs again/)
    const again = await project.devctl('deploy', '--wait')
    expect(again.status).toBe(1)
    expect(await jobs()).not.toEqual([third])
  })

  it('deploy and diff refuse to resize a claim, and say how to do it', async project => {
    const size = (text: string) =>
      project.compose(
        `services:\n  db:\n    ${SLEEP}\n    volumes: [data:/data]\nvolumes:\n  data:\n    driver_opts: {size: ${text}}\n`,
      )
    size('2Gi')
    await deploy(project)
    const before = await project.get('pvc/data')
    for (const other of few(['3Gi', '1Gi'])) {
      size(other)
      for (const command of ['diff', 'deploy']) {
        const { status, stderr } = await project.devctl(command)
        expect(status).toBe(1)
        expect(stderr).toContain('the claim `data` cannot be changed as the file requires')
        expect(stderr).toMatch(/= help: a claim can only grow, if its storage class allows it/)
      }
    }
    expect((await project.get('pvc/data')).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
  })

  it('deploy reverts fields that were changed by hand, but keeps the replicas of `kubectl scale`', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n    environment: {A: one}\n  big:\n    ${SLEEP}\n    scale: 1\n`)
    await deploy(project)
    await project.kubectl('set', 'env', 'deployment/web', 'A=two')
    await project.kubectl('scale', 'deployment/web', '--replicas=2')
    expect(await diff(project)).toMatch(/env\[A\]\.value {2}set by kubectl-set just now\n +- two\n +\+ one/)
    await deploy(project)
    const { spec } = await project.get('deployment/web')
    expect(JSON.stringify(spec)).toContain('"value":"one"')
    expect(spec['replicas']).toBe(2)
  })
})

describe.skipIf(cluster === undefined)('deploy of objects of other owners', () => {
  it('deploy refuses an object that devctl does not manage, and adopts it on request', async project => {
    await project.kubectl('create', 'service', 'clusterip', 'web', '--tcp=1:1')
    project.compose(`services:\n  web:\n    ${SLEEP}\n    expose: ["80"]\n`)
    const refused = await project.devctl('deploy')
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('error: `service/web` already exists and is not managed by devctl')
    expect(await project.kubectl('get', 'deployments', '--output=name'), 'nothing was done').toBe('')
    await deploy(project, '--adopt')
    expect((await project.get('service/web')).metadata.labels).toMatchObject({
      'dev.platform/environment': project.name,
    })
    expect(await deploy(project)).toContain('is up to date')
  })

  longIt('deploy --adopt removes fields of `kubectl apply` that the files do not have', async project => {
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', annotations: { note: 'by hand' } } }
    const spec = { ports: [{ name: 'old', port: 81 }], selector: { app: 'old', tier: 'front' } }
    project.write('service.json', JSON.stringify({ ...service, spec }))
    await project.kubectl('apply', '--filename', `${project.directory}/service.json`)
    project.compose(`services:\n  web:\n    ${SLEEP}\n    expose: ["80"]\n`)
    expect(await diff(project, '--adopt')).toMatch(
      /~ service\/web +becomes part of the environment, and loses fields that were set with `kubectl apply`/,
    )
    await deploy(project, '--adopt')
    const live = await project.get('service/web')
    expect(live.spec['selector']).toEqual({
      'dev.platform/environment': project.name,
      'dev.platform/service': 'web',
    })
    expect((live.spec['ports'] as { port: number }[]).map(({ port }) => port)).toEqual([80])
    expect(Object.keys((live.metadata as { annotations?: object }).annotations ?? {})).toEqual(['dev.platform/adopted'])
    expect(await deploy(project)).toContain('is up to date')
  })

  it('two environments in one namespace never change each other’s objects', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    await deploy(project)
    const { stderr, status } = await project.devctl('deploy', '--name', 'other')
    expect(status).toBe(1)
    expect(stderr).toContain(`belongs to the environment \`${project.name}\``)
    project.compose(`services:\n  api:\n    ${SLEEP}\n`)
    await deploy(project, '--name', 'other')
    expect((await project.get('deployment/web')).status).toMatchObject({ readyReplicas: 1 })
    expect((await project.devctl('destroy', '--name', 'other', '--wait')).status).toBe(0)
    expect((await project.get('deployment/web')).status).toMatchObject({ readyReplicas: 1 })
  })

  it('deploy reports fields that another tool applies, and takes them over on request', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n    environment: {A: one}\n`)
    await deploy(project)
    project.write(
      'other.json',
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { minReadySeconds: 1, template: { spec: { containers: [{ name: 'web', image: 'busybox:1' }] } } },
      }),
    )
    const file = `${project.directory}/other.json`
    await project.kubectl('apply', '--server-side', '--force-conflicts', '--field-manager=argocd', '--filename', file)
    const { status, stderr } = await project.devctl('deploy')
    expect(status).toBe(1)
    expect(stderr).toContain('error: `argocd` applies fields of `deployment/web`')
    expect(stderr).toContain('"busybox:1" in the cluster, "busybox:1.37" in the file')
    await deploy(project, '--force-conflicts')
    expect(JSON.stringify((await project.get('deployment/web')).spec)).toContain('busybox:1.37')
  })

  it('deploy refuses an environment that was deployed from another source', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    await deploy(project)
    project.write('elsewhere/compose.yaml', `services:\n  api:\n    ${SLEEP}\n`)
    const { status, stderr } = await project.devctl(
      'deploy',
      '--project-directory',
      'elsewhere',
      '-f',
      'elsewhere/compose.yaml',
    )
    expect(status).toBe(1)
    expect(stderr).toMatch(/was deployed from another (file|repository)/)
    expect((await project.get('deployment/web')).status).toMatchObject({ readyReplicas: 1 })
  })

  it('prune and destroy keep an object with the policy `keep`', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n  old:\n    ${SLEEP}\n    labels: {dev.platform/policy: keep}\n`)
    await deploy(project)
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    await deploy(project)
    expect((await project.get('deployment/old')).metadata.name).toBe('old')
    expect((await project.devctl('destroy', '--wait', '--volumes')).stderr).toContain('kept deployment/old')
    expect(await project.kubectl('get', 'deployments', '--output=name')).toBe('deployment.apps/old\n')
  })

  it('the second of two concurrent deploys reports the holder of the environment', async project => {
    starting.add(project.name)
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    const first = project.devctl('deploy', '--wait')
    await eventually('the first deploy holds the environment', async () =>
      (await project.kubectl('get', 'leases', '--output=name')) === '' ? undefined : true,
    )
    project.compose(`services:\n  web:\n    ${SLEEP}\n    environment: {A: "1"}\n`)
    const second = await project.devctl('deploy')
    expect(second.status).toBe(1)
    expect(second.stderr).toMatch(/another deploy of `[\w-]+` is running\n.*by .*\(\d+\)/)
    starting.delete(project.name)
    kubelet.recheck()
    expect((await first).status).toBe(0)
    expect(await project.kubectl('get', 'leases', '--output=name')).toBe('')
  })
})
