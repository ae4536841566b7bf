import { afterAll, describe, expect, test } from 'vitest'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const compose = (own: string) => `services:
  web:
    image: busybox:1.37
    command: [sleep, "3600"]
    healthcheck: {test: "true"}
    stop_grace_period: 1s
    deploy: {resources: {reservations: {cpus: "0.01", memory: 8M}}}
    ${own}
`

async function good({ devctl }: Project, ...words: readonly [string, ...string[]]): Promise<string> {
  const { status, stdout, stderr } = await devctl(...words)
  expect(status, stderr).toBe(0)
  return stdout + stderr
}

async function replicas(project: Project): Promise<number> {
  const { spec } = (await project.get('deployment/web')) as unknown as { readonly spec: { readonly replicas: number } }
  return spec.replicas
}

describe.skipIf(cluster === undefined)('x-autoscale', () => {
  afterAll(() => cluster?.close())

  test('the autoscaler takes over the number of Pods without a change of it, and later deploys leave it alone', () =>
    withProject(cluster!, async project => {
      project.compose(compose('scale: 3'))
      await good(project, 'deploy', '--wait')
      project.compose(compose('x-autoscale: {min: 2, max: 5, cpu: 70%}'))
      const diff = await good(project, 'diff')
      expect(diff).toContain('+ horizontalpodautoscaler/web')
      expect(diff).not.toContain('replicas')
      await good(project, 'deploy', '--wait')
      expect(await replicas(project)).toBe(3)

      // The test cluster has no metrics, so the autoscaler only keeps the bounds.
      project.compose(compose('x-autoscale: {min: 4, max: 5, cpu: 70%}'))
      await good(project, 'deploy', '--wait')
      await eventually('the autoscaler has set its minimum', async () => (await replicas(project)) === 4 || undefined)
      expect(await good(project, 'deploy', '--wait')).toContain('up to date')
      expect(await good(project, 'diff')).toContain('nothing differs')
      expect(await replicas(project)).toBe(4)

      project.compose(compose('scale: 1'))
      expect(await good(project, 'deploy', '--wait')).toContain('horizontalpodautoscaler/web')
      expect(await replicas(project)).toBe(1)
    }))
})
