import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { ask, untilAnswers } from '../../support/cluster/application.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN } from '../../support/cluster/examples.ts'
import { withProject } from '../../support/cluster/project.ts'
import { connect, enforcesPolicies, reachedFrom, startClient, tryInPod } from '../../support/cluster/reachability.ts'
import { run } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const isEnforced = cluster !== undefined && (await enforcesPolicies(cluster))
if (cluster && !isEnforced) console.warn('NetworkPolicies are not enforced here: who reaches whom is not tested')

/**
 * Ports of the services that others reach. `reaches` lists the services with a common network in the example's file.
 */
const ADDRESSES = { web: 80, api: 8000, store: 6379 } as const
type Target = keyof typeof ADDRESSES
const reaches: Readonly<Record<string, readonly Target[]>> = {
  web: ['api', 'web'],
  api: ['api', 'store', 'web'],
  store: ['api', 'store'],
  backup: ['api', 'store'],
}

describe.skipIf(!isEnforced)('networks with enforced policies', () => {
  afterAll(() => cluster?.close())

  longTest('a Job reaches its dependency at its first connection', async ({ expect }) => {
    await withProject(cluster!, async project => {
      project.compose(`services:
  redis:
    image: redis:7-alpine
    expose: ["6379"]
    healthcheck: {test: [CMD, redis-cli, ping], interval: 3s, retries: 60}
    networks: [back]
  seed:
    image: redis:7-alpine
    command: [redis-cli, -h, redis, set, a, b]
    restart: "no"
    depends_on: {redis: {condition: service_healthy}}
    networks: [back]
networks: {back: {internal: true}}
`)
      const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '150s')
      expect(status, stderr).toBe(0)
      expect(stderr).toContain('seed: Job complete')
    })
  })

  test('services of the networks example reach only those with a common network', async ({ expect }) => {
    const namespace = `networks-${process.pid}`
    const outside = `networks-outside-${process.pid}`
    const cwd = join(root, 'examples/networks')
    const env = { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_NAMESPACE: namespace }
    await cluster!.createNamespace(namespace)
    await cluster!.createNamespace(outside)
    try {
      const stranger = startClient(cluster!, outside, 'stranger')
      const { status, stderr } = await run(['deploy', '--wait', '--domain', DOMAIN], { cwd, env })
      expect(status, stderr).toBe(0)
      await stranger
      const { items } = await cluster!.get<PodList>(`/api/v1/namespaces/${namespace}/pods`)
      const podOf = (service: string) =>
        items.find(({ metadata }) => metadata.labels?.['dev.platform/service'] === service)!.metadata.name

      const addresses = Object.entries(ADDRESSES)
      for (const service of few(Object.keys(reaches), 2)) {
        const reached = await reachedFrom(cluster!, namespace, podOf(service), addresses)
        const wanted = reaches[service]!.map(target => `${target}:${ADDRESSES[target]}`)
        expect([...reached].sort(), `from ${service}`).toEqual(wanted)
      }
      const inner = addresses.map(([name, port]) => [`${name}.${namespace}`, port] as const)
      expect(await reachedFrom(cluster!, outside, 'stranger', inner), 'from another namespace').toEqual([
        `web.${namespace}:80`,
      ])
      await untilAnswers(cluster!, `web-${namespace}.${DOMAIN}`, '/', page => page.status === 200)
      expect((await ask(cluster!, `web-${namespace}.${DOMAIN}`, '/')).status, 'a public route').toBe(200)

      const dns = await tryInPod(cluster!, namespace, podOf('backup'), 'getent hosts store')
      expect(dns, 'names resolve in an internal network').toBe(true)
      const server = await cluster!.get<{ spec: { clusterIP: string } }>(
        '/api/v1/namespaces/default/services/kubernetes',
      )
      const way = (pod: string) => tryInPod(cluster!, namespace, podOf(pod), connect(server.spec.clusterIP, 443))
      expect(await way('web'), 'what is outside, from a network that is not internal').toBe(true)
      expect(await way('backup'), 'what is outside, from an internal network').toBe(false)
    } finally {
      await Promise.all([namespace, outside].map(name => cluster!.deleteNamespace(name)))
    }
  })
})

interface PodList {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly labels?: Record<string, string> } }[]
}
