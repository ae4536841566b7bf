import { type Cluster, eventually } from './cluster.ts'

/** A shell command that ends with 0 when a TCP connection is made; images have bash, or a shell with nc. */
export const connect = (host: string, port: number): string =>
  `if command -v bash >/dev/null; then timeout 3 bash -c '</dev/tcp/${host}/${port}'; else nc -z -w 3 ${host} ${port}; fi`

/** Returns true if a shell command in a Pod exits with 0. */
export const tryInPod = (on: Cluster, namespace: string, pod: string, command: string): Promise<boolean> =>
  on.kubectl('--namespace', namespace, 'exec', pod, '--', 'sh', '-c', command).then(
    () => true,
    () => false,
  )

/**
 * Tries all addresses at the same time, by one command in a Pod. Returns those that accept a connection, as
 * `host:port`, in the order in which they are given.
 */
export async function reachedFrom(
  on: Cluster,
  namespace: string,
  pod: string,
  addresses: readonly (readonly [host: string, port: number])[],
): Promise<readonly string[]> {
  const tries = addresses.map(([host, port], index) => `{ ${connect(host, port)}; } 2>/dev/null && echo ${index} &`)
  const script = `${tries.join('\n')}\nwait`
  const said = await on.kubectl('--namespace', namespace, 'exec', pod, '--', 'sh', '-c', script)
  const reached = new Set(said.split('\n').map(line => line.trim()))
  return addresses.filter((_, index) => reached.has(String(index))).map(([host, port]) => `${host}:${port}`)
}

/** Starts a Pod to connect from and to, which listens on the ports, and waits until it runs. */
export async function startClient(
  on: Cluster,
  namespace: string,
  name: string,
  labels = {},
  ports: readonly number[] = [6379],
): Promise<void> {
  const command = ports.map(port => `redis-server --port ${port}`).join(' & ')
  const containers = [{ name, image: 'redis:7-alpine', command: ['sh', '-c', command] }]
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: { containers } }
  const { status, body } = await on.send('POST', `/api/v1/namespaces/${namespace}/pods`, pod)
  if (status !== 201) throw new Error(`pod ${name}: ${body}`)
  await eventually(`pod ${name} runs`, async () => {
    const { status: there } = await on.get<{ status: { phase: string; podIP?: string } }>(
      `/api/v1/namespaces/${namespace}/pods/${name}`,
    )
    return there.phase === 'Running' && there.podIP ? true : undefined
  })
}

/**
 * Returns whether a Pod that a policy closes refuses connections within some seconds. EXPECT_POLICIES says so of a
 * cluster that was started with policies: if those do nothing there, the tests fail.
 */
export async function enforcesPolicies(on: Cluster): Promise<boolean> {
  if (process.env.EXPECT_POLICIES) return true
  const namespace = `policies-${process.pid}`
  await on.createNamespace(namespace)
  try {
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'closed' },
      spec: { podSelector: { matchLabels: { is: 'closed' } }, policyTypes: ['Ingress'] },
    }
    await on.send('POST', `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`, policy)
    await Promise.all([startClient(on, namespace, 'closed', { is: 'closed' }), startClient(on, namespace, 'client')])
    const { status } = await on.get<{ status: { podIP: string } }>(`/api/v1/namespaces/${namespace}/pods/closed`)
    for (const deadline = Date.now() + 8000; Date.now() < deadline; )
      if (!(await tryInPod(on, namespace, 'client', connect(status.podIP, 6379)))) return true
    return false
  } finally {
    await on.deleteNamespace(namespace)
  }
}
