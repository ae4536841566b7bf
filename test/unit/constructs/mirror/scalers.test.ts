import { expect, test } from 'vitest'
import type { KubeObject } from '../../../../adapters/kubernetes/cluster.ts'
import { replaceWorkload } from '../../../../develop/mirror/replace-workload.ts'
import { restoreWorkload } from '../../../../develop/mirror/restore-workload.ts'
import type { Session } from '../../../../project/session.ts'
import { AGENT, settings } from '../../../support/mirror/settings.ts'
import { deploy, holder, NAMESPACE, never, newCluster, wanted, workload } from '../../../support/objects/deploying.ts'
import { FakeClock } from '../../../support/objects/fake-clock.ts'

const SCALER = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'api', namespace: NAMESPACE }
const PAUSED = 'autoscaling.keda.sh/paused-replicas'

test.each([undefined, '3'])(
  'a scaler of KEDA is paused while a mirror stands in, and then gets its annotation (%s) back',
  async before => {
    const cluster = newCluster()
    cluster.register({
      apiVersion: SCALER.apiVersion,
      kind: SCALER.kind,
      name: 'scaledobjects',
      namespaced: true,
      hasStatus: true,
    })
    const spec = {
      replicas: 2,
      selector: { matchLabels: { app: 'api' } },
      template: { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'api', image: 'api' }] } },
    }
    await deploy(cluster, wanted([], [workload('Deployment', 'api', { spec })]))
    const scaler = (name: string, target: string, annotations = {}): KubeObject => ({
      apiVersion: SCALER.apiVersion,
      kind: SCALER.kind,
      metadata: { name, namespace: NAMESPACE, annotations },
      spec: { scaleTargetRef: { name: target } },
    })
    await cluster.create(scaler('api', 'api', before === undefined ? {} : { [PAUSED]: before }))
    await cluster.create(scaler('other', 'web'))
    const session = {
      cluster,
      namespace: NAMESPACE,
      signal: never,
      clock: new FakeClock(),
      holder: holder(),
    } as unknown as Session // Only these fields are read.
    const annotation = async (name: string) => (await cluster.get({ ...SCALER, name }))?.metadata.annotations?.[PAUSED]
    const up = async () => {
      const original = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api', namespace: NAMESPACE }
      const facts = { agentImage: 'node', toolsImage: 'busybox', runs: 'hold' as const, files: [] }
      const input = {
        original,
        settings: settings(),
        agent: AGENT,
        facts,
        session: () => ({}),
        takeOver: false,
        dryRun: false,
      }
      const taken = await replaceWorkload(session, input, () => {})
      if (taken.kind === 'taken') await taken.release()
    }
    await up()
    expect(await annotation('api')).toBe('0')
    expect(await annotation('other')).toBeUndefined()
    // A value that an earlier session has set is not mistaken for the scaler's own.
    await up()
    await restoreWorkload(session, { name: 'api' }, { volumes: false }, () => {})
    expect(await annotation('api')).toBe(before)
  },
)
