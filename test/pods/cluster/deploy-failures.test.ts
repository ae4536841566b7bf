import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { longTest } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Runs a deploy that cannot succeed, and returns what it printed. Checks that it fails long before its timeout. */
async function failing(project: Project, ...args: readonly string[]): Promise<string> {
  const began = Date.now()
  const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '4m', ...args)
  expect(status, stderr).toBe(1)
  expect(stderr).not.toContain('not done within')
  expect(Date.now() - began, stderr).toBeLessThan(150_000)
  return stderr
}

/** Runs a deploy that ends at its timeout, and returns what it printed. */
async function late(project: Project, timeout: string, ...args: readonly string[]): Promise<string> {
  const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', timeout, ...args)
  expect(status, stderr).toBe(1)
  expect(stderr).toContain('not done within')
  return stderr
}

const it = (name: string, body: (project: Project) => Promise<void>) => test(name, () => withProject(cluster!, body))

/** Declares a test that only `npm run test:long` runs; no merge waits for it. */
const longIt: typeof it = (name, body) => longTest(name, () => withProject(cluster!, body))

describe.skipIf(cluster === undefined).concurrent('a deploy that cannot succeed', () => {
  afterAll(() => cluster?.close())

  it('deploy reports an image that cannot be pulled', async project => {
    project.compose('services:\n  web:\n    image: 127.0.0.1:5000/no/such:1\n  api:\n    image: nginx:1.27-alpine\n')
    const said = await failing(project)
    expect(said).toContain('error[deploy/image-pull]: the image of `web` cannot be pulled')
    expect(said).toContain('compose.yaml:3:12')
    expect(said).toMatch(/= note: pod\/web-\w+-\w+: .*not found/)
    // The other service may or may not get ready in time.
    expect(said).toMatch(/is partly deployed to .*: (api is ready; web is|api, web are|web, api are) not ready/)
  })

  // The Pods that run are older than those that fail if the earlier template is restored.
  longIt('the next deploy fixes an image that cannot be pulled', async project => {
    const application = (image: string) => `services:\n  web:\n    image: ${image}\n`
    const deploy = () => project.devctl('deploy', '--wait', '--timeout', '1m')
    project.compose(application('nginx:1.27-alpine'))
    expect(await deploy()).toMatchObject({ status: 0 })
    project.compose(application('127.0.0.1:5000/no/such:1'))
    await failing(project)
    project.compose(application('nginx:1.27-alpine'))
    const { status, stderr } = await deploy()
    expect(status, stderr).toBe(0)
  })

  // The cluster would wait forever for the old Pod.
  longIt('the next deploy fixes a StatefulSet whose Pod never got ready', async project => {
    const application = (image: string) =>
      `services:\n  db:\n    image: ${image}\n    volumes: [data:/data]\nvolumes: {data: {}}\n`
    project.compose(application('127.0.0.1:5000/no/such:1'))
    await failing(project)
    project.compose(application('nginx:1.27-alpine'))
    const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '1m')
    expect(status, stderr).toBe(0)
  })

  it('deploy reports a container that exits repeatedly, with its last lines', async project => {
    project.compose('services:\n  web:\n    image: busybox:1.37\n    command: [sh, -c, "echo no database; exit 7"]\n')
    const said = await failing(project)
    expect(said).toMatch(/error\[deploy\/crash-loop\]: `web` exited \d times with code 7/)
    expect(said).toContain('= note: | no database')
  })

  longIt('deploy reports a crash loop of a service that starts after the others', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    ports: ["80:80"]\n    healthcheck: {http: {path: /, port: 80}, interval: 1s, retries: 100}\n' +
        '  late:\n    image: busybox:1.37\n    depends_on: {web: {condition: service_healthy}}\n    command: [sh, -c, "sleep 1; echo no database; exit 7"]\n    ports: ["8080:8080"]\n',
    )
    const said = await failing(project, '--domain', 'devctl.localhost')
    expect(said).toMatch(/error\[deploy\/crash-loop\]: `late` exited \d times with code 7/)
    expect(said).toMatch(/is partly deployed to .*: web is ready; late is not ready/)
    expect(await project.kubectl('get', 'ingress', '--output=name')).toContain('ingress.networking.k8s.io/web')
  })

  longIt('deploy reports that a service waits for the completion of a server', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    depends_on: {job: {condition: service_completed_successfully}}\n' +
        '  job:\n    image: nginx:1.27-alpine\n    restart: "no"\n    healthcheck: {http: {path: /, port: 80}, interval: 1s}\n',
    )
    const said = await late(project, '20s')
    expect(said).toContain('error[deploy/never-completes]: `job` is a server and never completes')
    expect(said).toContain('web was not created')
  })

  longIt('deploy reports a health check whose program the image does not have', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    healthcheck: {test: no-such-program localhost, interval: 1s, start_period: 1s}\n',
    )
    expect(await failing(project)).toContain(
      'the healthcheck of `web` runs `no-such-program`, which its image does not have',
    )
  })

  longIt('deploy reports a container that exits without an error although it has to keep running', async project => {
    project.compose('services:\n  web:\n    image: busybox:1.37\n    command: ["true"]\n')
    const said = await failing(project)
    expect(said).toMatch(/error\[deploy\/ends-well\]: `web` exited \d times without an error/)
    expect(said).toContain('restart: "no"')
  })

  // Kubernetes deletes the Pod of such a Job when it fails.
  it('deploy reports a failed Job with its output and does not create the service that waits', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    depends_on: {job: {condition: service_completed_successfully}}\n' +
        '  job:\n    image: busybox:1.37\n    command: [sh, -c, "echo migration 4 is broken; exit 2"]\n    restart: on-failure:1\n',
    )
    const said = await failing(project)
    expect(said).toContain('error[deploy/failed]: `job` has failed: it exited with code 2')
    expect(said).toContain('migration 4 is broken')
    expect(await project.kubectl('get', 'deployments', '--output=name')).toBe('')
  })

  longIt('deploy tolerates failed attempts of a Job, a hook and a server that starts too early', async project => {
    const fourth = (name: string) =>
      `[sh, -c, 'echo x >> /state/n; n=$$(wc -l < /state/n); echo ${name} $$n; [ $$n -ge 4 ]']`
    project.compose(
      `services:\n  job:\n    image: busybox:1.37\n    deploy: {restart_policy: {condition: on-failure, max_attempts: 5}}\n    tmpfs: /state\n    command: ${fourth('job')}\n` +
        `  web:\n    image: nginx:1.27-alpine\n    depends_on: {job: {condition: service_completed_successfully}}\n` +
        `    tmpfs: /state\n    pre_start: [{image: busybox:1.37, command: ${fourth('hook')}}]\n` +
        `  db:\n    image: busybox:1.37\n    command: [sh, -c, 'sleep 40; exec nc -ll -p 5432 -e true']\n    expose: ["5432"]\n` +
        `  api:\n    image: busybox:1.37\n    depends_on: [db]\n    command: [sh, -c, 'nc -w 1 db 5432 < /dev/null || exit 3; sleep 3600']\n`,
    )
    const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '5m')
    expect(status, stderr).toBe(0)
    for (const service of ['job', 'web', 'api']) expect(stderr).toContain(`${service}: it keeps exiting`)
  })

  longIt('deploy with --tolerate-failures waits until the deadline despite failures', async project => {
    project.compose(
      'services:\n  web:\n    image: 127.0.0.1:5000/no/such:1\n  job:\n    image: busybox:1.37\n    restart: "no"\n    command: ["false"]\n',
    )
    const said = await late(project, '20s', '--tolerate-failures')
    expect(said).toContain('error[deploy/image-pull]')
    expect(said).toContain('error[deploy/failed]: `job` has failed: it exited with code 1')
  })

  it('deploy reports a Pod that fits on no node', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    deploy: {resources: {reservations: {memory: 900G}}}\n',
    )
    const said = await failing(project)
    expect(said).toContain('error[deploy/unschedulable]: the Pods of `web` cannot be scheduled')
    expect(said).toContain('Insufficient memory')
  })

  it('deploy reports a Secret that does not exist', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    secrets: [token]\nsecrets: {token: {external: true}}\n',
    )
    const said = await failing(project)
    expect(said).toContain('error[deploy/configuration]: the Secret `token` of `web` does not exist')
    expect(said).toContain('compose.yaml:4:15')
    expect(said).toMatch(/secret "token" not found/)
  })

  longIt('deploy reports a program that the image does not have', async project => {
    project.compose('services:\n  web:\n    image: nginx:1.27-alpine\n    entrypoint: [no-such-program]\n')
    expect(await failing(project)).toMatch(/no-such-program.*executable file not found/)
  })

  longIt('deploy reports a failing health check with its output', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    healthcheck:\n      test: [CMD, sh, -c, "echo teapot; exit 1"]\n' +
        '      interval: 2s\n      retries: 2\n      x-liveness: false\n',
    )
    const said = await failing(project)
    expect(said).toMatch(/error\[deploy\/(unhealthy|crash-loop)\]: `web`/)
    expect(said).toContain('teapot')
  })

  longIt('deploy reports a used-up quota', async project => {
    project.compose('services:\n  web:\n    image: nginx:1.27-alpine\n')
    await project.kubectl('create', 'quota', 'none', '--hard=pods=0')
    const said = await failing(project)
    expect(said).toContain('error[deploy/refused]: the cluster refuses the Pods of `web`')
    expect(said).toContain('exceeded quota')
  })

  longIt('deploy reports a Pod Security level that the Pods do not meet', async project => {
    await project.kubectl('label', 'namespace', project.name, 'pod-security.kubernetes.io/enforce=restricted')
    project.compose('services:\n  db:\n    image: nginx:1.27-alpine\n    volumes: [/data]\n')
    const said = await failing(project)
    expect(said).toContain('error[deploy/refused]: the cluster refuses the Pods of `db`')
    expect(said).toContain('devctl render --policy restricted')
  })

  longIt('deploy reports a claim that gets no volume', async project => {
    project.compose(
      'services:\n  db:\n    image: nginx:1.27-alpine\n    volumes: [data:/data]\nvolumes:\n  data:\n    driver_opts: {size: 1Gi, class: no-such-class}\n',
    )
    const said = await failing(project)
    expect(said).toMatch(/error\[deploy\/(claim|unschedulable)\]/)
    expect(said).toContain('no-such-class')
  })

  longIt('the next deploy replaces broken Pods that Kubernetes would wait for', async project => {
    const db = (image: string) =>
      project.compose(
        `services:\n  db:\n    image: ${image}\n    volumes: [data:/data]\n  web:\n    image: ${image}\nvolumes: {data: {}}\n`,
      )
    db('127.0.0.1:5000/no/such:1')
    await failing(project)
    db('nginx:1.27-alpine')
    const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '90s')
    expect(status, stderr).toBe(0)
  })

  it('deploy reports at the deadline which services are ready', async project => {
    project.compose(
      'services:\n  web:\n    image: nginx:1.27-alpine\n    healthcheck: {test: [CMD, "false"], start_period: 5m}\n  api:\n    image: nginx:1.27-alpine\n',
    )
    const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '45s')
    expect(status).toBe(1)
    expect(stderr).toContain('not done within 45 s')
    expect(stderr).toContain('error[deploy/not-ready]: `web` was not ready in time')
    expect(stderr).toMatch(/api is ready; web is not ready/)
    expect(await project.kubectl('get', 'leases', '--output=name')).toBe('')
  })

  it('deploy refuses a service with `build` whose image is in no registry', async project => {
    project.compose('services:\n  web:\n    build: .\n')
    project.write('Dockerfile', 'FROM busybox:1.37\n')
    const { status, stderr } = await project.devctl('deploy')
    expect(status).toBe(1)
    expect(stderr).toContain('compose.yaml:')
    expect(stderr).toContain('nothing was deployed')
  })

  it('deploy refuses a namespace that does not exist', async project => {
    project.compose('services:\n  web:\n    image: nginx:1.27-alpine\n')
    const { status, stderr } = await project.devctl('deploy', '--namespace', 'no-such-namespace')
    expect(status).toBe(1)
    expect(stderr).toContain('error: namespace `no-such-namespace` does not exist')
  })
})
