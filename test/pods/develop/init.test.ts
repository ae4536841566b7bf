import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'
import { zipFiles } from '../../support/zip-files.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

describe.skipIf(cluster === undefined)('a project with manifests', () => {
  const namespace = `init-${process.pid}`
  const project = mkdtempSync(join(tmpdir(), 'devctl-init-'))
  const home = mkdtempSync(join(tmpdir(), 'devctl-home-'))
  const devctl = (...args: readonly string[]) => {
    const kubeconfig = process.env.KUBECONFIG!
    const path = `${join(dirname(kubeconfig), 'bin')}${delimiter}${process.env.PATH}`
    return run(args, { cwd: project, env: { PATH: path, KUBECONFIG: kubeconfig, DEVCTL_HOME: home } })
  }
  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    const expected = join(root, 'golden/init/manifests/expected')
    cpSync(join(root, 'golden/init/manifests'), project, { recursive: true, filter: path => path !== expected })
  })
  afterAll(async () => {
    for (const folder of [project, home]) rmSync(folder, { recursive: true, force: true })
    await cluster?.deleteNamespace(namespace)
    cluster?.close()
  })

  test('deploy works with the manifest that init has written', async () => {
    expect(await devctl('init', '--yes', '--namespace', namespace)).toMatchObject({ status: 0, stderr: '' })
    const { status, stderr } = await devctl('deploy')
    expect(status, stderr).toBe(0)
    await cluster!.kubectl('-n', namespace, 'rollout', 'status', 'deployment/greeter', '--timeout=100s')
  })

  // Another test of `doctor` covers masking without a cluster.
  longTest("doctor collects the development container's cluster state without secret values", async () => {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/greeter`
    const original = await cluster!.get<{ metadata: { uid: string } }>(path)
    const applied = await cluster!.apply(mirror(original.metadata.uid), namespace)
    expect(applied.status, applied.body).toBe(201)
    await cluster!.kubectl('-n', namespace, 'rollout', 'status', 'deployment/greeter-dev', '--timeout=100s')
    await eventually('the log has its line', async () =>
      (await cluster!.kubectl('-n', namespace, 'logs', 'deployment/greeter-dev', '-c', 'main')).includes('started')
        ? true
        : undefined,
    )
    const { status, stderr } = await devctl('doctor')
    expect(status, stderr).toBe(0)
    const files = zipFiles(join(project, readdirSync(project).find(name => name.endsWith('.zip'))!))
    const names = [...files.keys()]
    const metadata = JSON.parse(files.get('metadata.json')!)
    const missing = metadata.parts.filter((part: { missing?: string }) => part.missing !== undefined)
    expect(missing.map(({ name }: { name: string }) => name).sort(), stderr).toEqual([
      'env files',
      'log of `up`',
      'running `up`',
    ])
    expect(names).toEqual(
      expect.arrayContaining([
        'cluster/mirrors.yaml',
        'cluster/originals.yaml',
        'cluster/pods.yaml',
        'cluster/events.txt',
      ]),
    )
    const log = names.find(name => /^cluster\/logs\/greeter-dev-[^/]+\/main\.log$/.test(name))!
    expect(files.get(log)).toMatch(/Z started with \*\*\*$/m)
    expect(files.get('cluster/mirrors.yaml')).toContain('name: PLAIN')
    expect(files.get('cluster/originals.yaml')).toContain('name: greeter\n')
    expect(files.get('cluster/events.txt')).toMatch(/ Normal \w+ Pod\/greeter-dev-/)
    expect(JSON.parse(files.get('cluster/permissions.json')!)).toMatchObject({ missing: [], isComplete: true })
    const speed = JSON.parse(files.get('cluster/speed.json')!)
    expect(speed.roundTrip.count).toBeGreaterThan(3)
    expect(speed.bytesPerSecond).toBeGreaterThan(100_000)
    for (const secret of ['value-of-plain', 'value-of-password', 'value-of-annotation'])
      expect([...files.values()].join('\n')).not.toContain(secret)
    expect(metadata).toMatchObject({ dev: 'greeter', namespace })
  })
})

/** Returns the mirror that `up` makes of the Deployment, with the parts that doctor reads. */
function mirror(uid: string) {
  const labels = { 'dev.platform/mirror': 'greeter', 'dev.platform/development': 'greeter' }
  const image = 'node:22-alpine'
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'greeter-dev',
      labels,
      annotations: { note: 'value-of-annotation' },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'greeter', uid }],
    },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'main',
              image,
              command: ['sh', '-c', 'echo "started with $PASSWORD"; sleep 3600'],
              env: [
                { name: 'PLAIN', value: 'value-of-plain' },
                { name: 'PASSWORD', value: 'value-of-password' },
              ],
            },
            { name: 'devctl-agent', image, command: ['sleep', '3600'] },
          ],
        },
      },
    },
  }
}
