import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const REGISTRY = '127.0.0.1:5000'

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

/** Declares a test that only `npm run test:long` runs; no merge waits for it. */
const longIt: typeof it = (name, body) => longTest(name, () => withProject(cluster!, body))

/**
 * Settings of a service that is ready soon. With a healthcheck, devctl does not also watch whether the container
 * continues to run. This one starts no process in the container.
 */
const QUICK = `command: [sh, -c, "touch /tmp/index.html; exec httpd -f -p 8080 -h /tmp"]
    stop_grace_period: 0s
    healthcheck: {http: {path: /, port: 8080}, interval: 1s, retries: 100}`

/** Returns a Compose file with a Deployment, a StatefulSet and a Job that have the same fault. */
const services = (what: string, more = '', names: readonly Service[] = ['web', 'db', 'migrate']) => `services:
${names.map(name => SERVICES[name](what)).join('')}${names.includes('db') ? 'volumes: {data: {}}\n' : ''}
${more}`

type Service = keyof typeof SERVICES
const SERVICES = {
  web: (what: string) => `  web:\n    ${what}\n    ${QUICK}\n`,
  db: (what: string) => `  db:\n    ${what}\n    ${QUICK}\n    volumes: [data:/data]\n`,
  migrate: (what: string) => `  migrate:\n    ${what}\n    command: ["true"]\n    restart: "no"\n`,
}

/** Returns a single workload where another test has all three; `npm run test:long` has all three everywhere. */
const one = (name: Service): readonly Service[] | undefined => (TAKES_ALL ? undefined : [name])

/** Deploys and waits, for at most 150 s. */
const deployAndWait = ({ devctl }: Project) => devctl('deploy', '--wait', '--timeout', '150s')

async function expectFailure(project: Project, code: string): Promise<void> {
  const { status, stderr } = await deployAndWait(project)
  expect(status, stderr).toBe(1)
  expect(stderr).toContain(`error[${code}]`)
  expect(stderr).not.toContain('not done within')
}

/** Checks that all workloads get ready once the cause is fixed, although none of them was changed. */
async function expectReady(project: Project): Promise<void> {
  const { status, stderr } = await deployAndWait(project)
  expect(status, stderr).toBe(0)
  expect(stderr).not.toContain('error[')
}

/** Pushes an image of the registry under another name. */
async function pushAs(repository: string, tag: string): Promise<void> {
  const from = `http://${REGISTRY}/v2/library/busybox`
  const to = `http://${REGISTRY}/v2/${repository}`
  const type = 'application/vnd.oci.image.manifest.v1+json'
  const asked = await fetch(`${from}/manifests/1.37`, { headers: { accept: type } })
  const text = await asked.text()
  const { config, layers } = JSON.parse(text) as Record<'config' | 'layers', unknown> as {
    readonly config: { readonly digest: string }
    readonly layers: readonly { readonly digest: string }[]
  }
  for (const { digest } of [config, ...layers]) {
    const mount = `${to}/blobs/uploads/?mount=${digest}&from=library/busybox`
    expect((await fetch(mount, { method: 'POST' })).status).toBe(201)
  }
  const put = await fetch(`${to}/manifests/${tag}`, { method: 'PUT', headers: { 'content-type': type }, body: text })
  expect(put.status).toBe(201)
}

describe.skipIf(cluster === undefined)('a deploy after its obstacle was fixed in the cluster', () => {
  afterAll(() => cluster?.close())

  it('deploy succeeds once a missing Secret exists', async project => {
    project.compose(
      services('image: busybox:1.37\n    secrets: [token]', 'secrets: {token: {external: true}}\n', one('web')),
    )
    await expectFailure(project, 'deploy/configuration')
    await project.kubectl('create', 'secret', 'generic', 'token', '--from-literal=token=abc')
    await expectReady(project)
  })

  longIt('deploy succeeds once a missing image exists; without --wait, it lists what is not ready', async project => {
    project.compose(services(`image: ${REGISTRY}/late/${project.name}:1`))
    await expectFailure(project, 'deploy/image-pull')
    const unchanged = await project.devctl('deploy')
    expect(unchanged.status, unchanged.stderr).toBe(0)
    const lines = unchanged.stderr.split('\n').filter(line => line.startsWith('  not ready: '))
    expect(lines, unchanged.stderr).toHaveLength(1)
    // The first one to fail has ended the deploy; the Pods of the others may have been created or replaced just now.
    expect(lines[0]).toContain('(its image cannot be pulled; retrying)')
    for (const service of ['db', 'migrate', 'web']) expect(lines[0]).toContain(`${service} (`)
    await pushAs(`late/${project.name}`, '1')
    await expectReady(project)
    const again = await project.devctl('deploy')
    expect(again.stderr).not.toContain('not ready')
  })

  longIt('deploy succeeds once a quota that blocked it was deleted', async project => {
    project.compose(services('image: busybox:1.37', '', one('db')))
    await project.kubectl('create', 'quota', 'none', '--hard=pods=0')
    await expectFailure(project, 'deploy/refused')
    await project.kubectl('delete', 'quota', 'none')
    await expectReady(project)
  })
})
