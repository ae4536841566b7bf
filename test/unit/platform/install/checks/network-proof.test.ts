import { describe, expect, test } from 'vitest'
import { ClusterError } from '../../../../../adapters/kubernetes/cluster.ts'
import { networkProblem } from '../../../../../platform/install/checks/network-proof.ts'
import { RUNS_NAMESPACE } from '../../../../../platform/records/names.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'
import { clusterWith, PODS, type ProofSpec, prove, SERVER, said } from '../../../../support/platform/proof-cluster.ts'

describe('proveNetworks', () => {
  test('proveNetworks tries each address from a Pod without rights, and deletes the Pod', async () => {
    const cluster = await clusterWith(said({}))
    // This Pod is left from an earlier check that did not wait for its status.
    const left = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'left', namespace: RUNS_NAMESPACE } }
    await MemoryCluster.prototype.create.call(cluster, {
      ...left,
      metadata: { ...left.metadata, labels: { 'dev.platform/proof': 'networks' } },
      spec: { containers: [{ name: 'proof', image: 'x' }] },
    })
    cluster.act({ ...PODS, name: 'left' }, one => ({ ...one, status: { phase: 'Succeeded' } }))
    const proof = await prove(cluster)
    expect(proof).toEqual({ kind: 'tried', tried: 3, reached: [] })
    expect(networkProblem(proof)).toBeUndefined()
    const [pod] = cluster.started
    expect(pod).toMatchObject({
      metadata: { namespace: RUNS_NAMESPACE },
      spec: { automountServiceAccountToken: false, restartPolicy: 'Never', securityContext: { runAsNonRoot: true } },
    })
    const { env } = (pod!['spec'] as ProofSpec).containers[0]!
    expect(JSON.parse(env[0]!.value)).toEqual(['10.0.0.4:10251', '93.184.216.4:10251', '169.254.169.254:80'])
    expect(await cluster.list(PODS)).toEqual([])
  })

  test('a node that Pods reach is a problem', async () => {
    const proof = await prove(await clusterWith(said({ reached: ['10.0.0.4:10251'] })))
    expect(networkProblem(proof)).toMatchObject({ message: 'Pods reach nodes of the cluster: 10.0.0.4:10251' })
  })

  test.each<readonly [string, string | undefined, boolean, string]>([
    ['its Pod has no network at all', said({ hasNetwork: false }), true, 'its Pod did not reach the API server either'],
    ['its Pod says something else', 'killed', true, 'its Pod ended with an error'],
    ['no node is ready', said({}), false, 'no node is ready'],
  ])('the result is unknown if %s', async (_, message, isReady, why) => {
    const proof = await prove(await clusterWith(message, isReady))
    expect(proof).toEqual({ kind: 'unknown', why })
    expect(networkProblem(proof)).toBeUndefined()
  })

  test('the result is unknown without a server, its image, or the right to create Pods', async () => {
    const cluster = await clusterWith(undefined)
    cluster.waits = 'ErrImagePull'
    expect(await prove(cluster)).toEqual({
      kind: 'unknown',
      why: 'its Pod does not get the image of the server: ErrImagePull',
    })
    cluster.refusal = new ClusterError('forbidden', 'pods are forbidden')
    expect(await prove(cluster)).toEqual({ kind: 'unknown', why: 'pods are forbidden' })
    await cluster.delete({ ...SERVER, ...SERVER.metadata })
    expect(await prove(cluster)).toEqual({ kind: 'unknown', why: 'the server is not installed' })
  })

  test('an interruption stops the proof, and its Pod is deleted', async () => {
    const cluster = await clusterWith(undefined)
    const controller = new AbortController()
    const proving = prove(cluster, controller.signal)
    setTimeout(() => controller.abort(new Error('interrupted')), 100)
    await expect(proving).rejects.toThrow('interrupted')
    expect(await cluster.list(PODS)).toEqual([])
  })
})
