import { test } from 'vitest'
import type { Cluster, KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { writeKubeconfig } from '../../support/cluster/kubeconfig-file.ts'
import { describeCluster, type World } from '../../support/cluster-contract.ts'

if (process.env.KUBECONFIG) describeCluster('a real cluster', open)
else test.skip('a real cluster is not tested because KUBECONFIG is not set', () => {})

async function open(): Promise<World> {
  const cluster = await connect({ env: process.env })
  const run = `devctl-contract-${process.pid}`
  const namespaces = [`${run}-1`, `${run}-2`] as const
  for (const name of namespaces) await cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const hasNodes = (await cluster.list({ apiVersion: 'v1', kind: 'Node' })).length > 0
  const defined: string[] = []
  return {
    cluster,
    namespaces,
    powerless: await connectAsNobody(),
    print: hasNodes ? (pod, namespace, lines) => print(cluster, pod, namespace, lines) : undefined,
    async define({ apiVersion, kind, plural }) {
      const [group, version] = apiVersion.split('/')
      defined.push(`${plural}.${group}`)
      await define(cluster, { group: group!, version: version!, kind, plural })
    },
    async close() {
      for (const name of namespaces) await cluster.delete({ apiVersion: 'v1', kind: 'Namespace', name })
      for (const name of defined) await cluster.delete({ ...DEFINITION, name })
    },
  }
}

const DEFINITION = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' } as const

/** Connects as a user whom the server knows but who has no permissions. */
function connectAsNobody(): Promise<Cluster> {
  const file = writeKubeconfig(({ users }) => {
    for (const { user } of users) user['as'] = 'nobody-at-all'
  })
  return connect({ env: { ...process.env, KUBECONFIG: file } })
}

/**
 * Starts a Pod that prints the lines and ends, so that a previous run exists, and that continues to run after the
 * restart.
 */
async function print(cluster: Cluster, name: string, namespace: string, lines: readonly string[]): Promise<void> {
  const text = lines.map(line => `${line}\\n`).join('')
  const script = `printf '${text}'; test -e /state/again && exec sleep 600; touch /state/again`
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'main',
          image: 'busybox:1.36',
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', script],
          volumeMounts: [{ name: 'state', mountPath: '/state' }],
        },
      ],
      volumes: [{ name: 'state', emptyDir: {} }],
    },
  }
  await cluster.create(pod)
  await eventually(`${name} runs for the second time`, async () => {
    const live = await cluster.get({ apiVersion: 'v1', kind: 'Pod', name, namespace })
    const { containerStatuses } = (live?.['status'] ?? {}) as {
      containerStatuses?: { restartCount: number; state: { running?: object } }[]
    } // a Pod's status
    const [status] = containerStatuses ?? []
    return (status?.restartCount === 1 && status.state.running !== undefined) || undefined
  })
  await new Promise(resolve => setTimeout(resolve, 500))
}

async function define(
  cluster: Cluster,
  { group, version, kind, plural }: { group: string; version: string; kind: string; plural: string },
): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const name = `${plural}.${group}`
  await cluster.create({
    ...DEFINITION,
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  })
  const isEstablished = async () => {
    const { conditions } = ((await cluster.get({ ...DEFINITION, name }))?.['status'] ?? {}) as {
      conditions?: { type: string; status: string }[] | null
    } // a definition's status
    if (!conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return undefined
    // The server's handlers are updated a moment later.
    return (await cluster.resource(`${group}/${version}`, kind)) && (await listed()) ? true : undefined
  }
  const listed = () =>
    cluster.list({ apiVersion: `${group}/${version}`, kind }).then(
      () => true,
      () => false,
    )
  await eventually(`${name} is established`, isEstablished)
}
