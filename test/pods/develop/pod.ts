import type { Cluster } from '../../support/cluster/cluster.ts'

/** Applies a Pod and waits until it is ready; rejects after 60 s. */
export async function startPod(cluster: Cluster, namespace: string, name: string, spec: object): Promise<void> {
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { terminationGracePeriodSeconds: 0, ...spec } }
  const { status, body } = await cluster.apply(pod, namespace)
  if (status >= 300) throw new Error(`pod/${name}: ${body}`)
  await cluster.kubectl('--namespace', namespace, 'wait', `pod/${name}`, '--for=condition=Ready', '--timeout=100s')
}

/** The tools as a mirror has them: what puts busybox into the volume `tools`, and the mount of it. */
export const TOOLS_MOUNT = { name: 'tools', mountPath: '/devctl-tools' }
export const TOOLS_CONTAINER = {
  name: 'tools',
  image: 'busybox:1.37',
  command: ['cp', '/bin/busybox', '/devctl-tools/busybox'],
  volumeMounts: [TOOLS_MOUNT],
}
