import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

const compose = (priority: string, objects: string) => `services:
  web:
    image: "busybox:1.37"
    command: [sleep, "3600"]
    healthcheck: {test: "true"}
    expose: ["80"]
    volumes: [/data]
    x-kubernetes:
      pod: {tolerations: [{key: dedicated, operator: Exists, effect: ${priority}}]}
      container: {resources: {limits: {example.com/gpu: 1}}, terminationMessagePolicy: FallbackToLogsOnError}
      workload: {revisionHistoryLimit: 2}
      service: {annotations: {example.com/balancer: internal}, sessionAffinity: ClientIP}
      claim: {labels: {backup: daily}}
      serviceAccount: {annotations: {example.com/role: reader}}
x-kubernetes:
  objects:
${objects}`

const BUDGET = `    - apiVersion: policy/v1
      kind: PodDisruptionBudget
      metadata: {name: web}
      spec: {maxUnavailable: 1, selector: {matchLabels: {app.kubernetes.io/name: web}}}
`
const POLICY = `    - apiVersion: networking.k8s.io/v1
      kind: NetworkPolicy
      metadata: {name: closed}
      spec: {podSelector: {}, policyTypes: [Ingress]}
`

async function good({ devctl }: Project, ...words: readonly [string, ...string[]]): Promise<string> {
  const { status, stdout, stderr } = await devctl(...words)
  expect(status, stderr).toBe(0)
  return stdout + stderr
}

const names = ({ kubectl }: Project, kinds: string) =>
  kubectl('get', kinds, '--selector=dev.platform/environment', '--output=name').then(text => text.trim().split('\n'))

describe.skipIf(cluster === undefined)('x-kubernetes', () => {
  playPods()
  afterAll(() => cluster?.close())

  test.concurrent('fields and objects are deployed, compared, pruned and destroyed', () =>
    withProject(cluster!, async project => {
      project.compose(compose('NoSchedule', BUDGET + POLICY))
      await good(project, 'deploy', '--wait')
      const kinds = 'poddisruptionbudgets,networkpolicies,serviceaccounts'
      expect(await names(project, kinds)).toEqual([
        'poddisruptionbudget.policy/web',
        'networkpolicy.networking.k8s.io/closed',
        'serviceaccount/web',
      ])
      const { spec } = await project.get('statefulset/web')
      expect(spec).toMatchObject({
        revisionHistoryLimit: 2,
        template: {
          spec: {
            serviceAccountName: 'web',
            tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
            containers: [{ terminationMessagePolicy: 'FallbackToLogsOnError' }],
          },
        },
        volumeClaimTemplates: [{ metadata: { labels: { backup: 'daily' } } }],
      })
      expect(await good(project, 'diff'), 'what the API server adds is no difference').toContain('nothing differs')
      expect(await good(project, 'deploy', '--wait')).toContain('up to date')

      project.compose(compose('NoExecute', BUDGET))
      const diff = await good(project, 'diff')
      expect(diff).toMatch(/NoExecute/)
      expect(diff).toContain('networkpolicy/closed')
      await good(project, 'deploy', '--wait')
      expect(await names(project, kinds)).toEqual(['poddisruptionbudget.policy/web', 'serviceaccount/web'])

      await good(project, 'destroy', '--yes')
      expect(await names(project, kinds)).toEqual([''])
    }))

  test.concurrent('an object of the cluster is refused before anything is applied', () =>
    withProject(cluster!, async project => {
      const review = `    - {apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: ${project.name}}}\n`
      project.compose(compose('NoSchedule', review))
      const { status, stderr } = await project.devctl('deploy')
      expect(status).not.toBe(0)
      expect(stderr).toContain(`flowschema/${project.name} is an object of the cluster, not of a namespace`)
      expect(await names(project, 'statefulsets')).toEqual([''])
    }))
})
