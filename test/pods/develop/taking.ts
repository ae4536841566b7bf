import type { Cluster, KubeObject, ObjectRef } from '../../../adapters/kubernetes/cluster.ts'
import { kubeconfigAccess } from '../../../adapters/kubernetes/connection.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import type { OperationEvent } from '../../../api/events.ts'
import type { MirrorSettings } from '../../../constructs/mirror/settings.ts'
import { type ReplacedWorkload, type ReplaceInput, replaceWorkload } from '../../../develop/mirror/replace-workload.ts'
import { restoreWorkload } from '../../../develop/mirror/restore-workload.ts'
import type { Session } from '../../../project/session.ts'
import { bindingInForce, eventually, findCluster } from '../../support/cluster/cluster.ts'
import { writeKubeconfig } from '../../support/cluster/kubeconfig-file.ts'
import { AGENT, settings } from '../../support/mirror/settings.ts'
import { NO_NODE } from './no-node.ts'

/** Namespace of a real cluster, for a user who has the role `edit` in it and no other permissions. */
export interface Place {
  readonly cluster: Cluster
  readonly namespace: string
  readonly session: (more?: Partial<Session>) => Session
  apply(object: KubeObject, manager?: string): Promise<KubeObject>
  get(ref: Pick<ObjectRef, 'apiVersion' | 'kind' | 'name'>): Promise<KubeObject | undefined>
  close(): Promise<void>
}

/** Creates a namespace; `labels` are those for Pod Security. */
export async function openPlace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<Place> {
  const admin = await connect({ env: process.env })
  const namespace = `mirror-${name}-${process.pid}`
  await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } })
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'editor', namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mirror-editor' }],
  })
  await bindingInForce(findCluster()!, namespace, 'mirror-editor')
  const file = writeKubeconfig(({ users }) => {
    for (const { user } of users) user['as'] = 'mirror-editor'
  })
  const env = { ...process.env, KUBECONFIG: file }
  const cluster = await connect({ env })
  const access = await kubeconfigAccess(undefined, env)
  return {
    cluster,
    namespace,
    session: more => ({
      cluster,
      access,
      namespace,
      target: { context: 'test', namespace, from: { context: '', namespace: '' } } as unknown as Session['target'], // nobody reads it
      signal: AbortSignal.timeout(120_000),
      clock,
      holder: { name: `ann@laptop (${process.pid})`, isGone: () => false },
      ...more,
    }),
    apply: (object, manager = 'somebody') =>
      cluster.apply({ ...object, metadata: { ...object.metadata, namespace } }, { manager }),
    get: ref => cluster.get({ ...ref, namespace }),
    async close() {
      await admin.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
    },
  }
}

const clock: Session['clock'] = {
  now: () => Date.now(),
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds)
    return () => clearInterval(timer)
  },
}

/** Waits until the Pod with these labels is ready, and returns it. */
export function readyPod({ cluster, namespace }: Place, labels: string): Promise<KubeObject> {
  const list = (kind: string, more: object = {}) => cluster.list({ apiVersion: 'v1', kind, namespace, ...more })
  const explain = async () => {
    const pods = await list('Pod', { labels })
    const events = (await list('Event')).map(one => `${one['reason']}: ${one['message']}`)
    return `${events.join('\n')}\n${JSON.stringify(
      pods.map(pod => pod['status']),
      undefined,
      1,
    ).slice(-5000)}`
  }
  const find = async () =>
    (await list('Pod', { labels })).find(pod => {
      const { conditions = [] } = (pod['status'] ?? {}) as { conditions?: { type: string; status: string }[] } // a Pod's
      const isReady = conditions.some(one => one.type === 'Ready' && one.status === 'True')
      return isReady && pod.metadata.deletionTimestamp === undefined
    })
  return eventually(`a Pod of ${labels} is ready`, find, { explain })
}

type Config = { readonly key: string }

/** Takes over a Deployment of the namespace, with an agent that only opens the gate. */
export async function takeOne(
  session: Session,
  original: Pick<ObjectRef, 'apiVersion' | 'kind' | 'name'> | undefined,
  more: Partial<MirrorSettings> = {},
  input: Partial<ReplaceInput<Config>> = {},
  on: (event: OperationEvent) => void = () => {},
): Promise<ReplacedWorkload<Config>> {
  const taken = await replaceWorkload(session, inputOf(session, original, more, input), on)
  if (taken.kind === 'planned') throw new Error('nothing was taken')
  return taken
}

export const inputOf = (
  { namespace }: Session,
  original: Pick<ObjectRef, 'apiVersion' | 'kind' | 'name'> | undefined,
  more: Partial<MirrorSettings> = {},
  input: Partial<ReplaceInput<Config>> = {},
): ReplaceInput<Config> => ({
  original: original && { ...original, namespace },
  settings: settings(more),
  agent: AGENT,
  facts: { agentImage: 'node:22-alpine', toolsImage: 'busybox:1.37', runs: 'hold', files: [] },
  session: existing => (existing as Config | undefined) ?? { key: 'k' },
  takeOver: false,
  dryRun: false,
  ...input,
})

export const give = (session: Session, name = 'api', volumes = false, on: (event: OperationEvent) => void = () => {}) =>
  restoreWorkload(session, { name }, { volumes }, on)

/** Returns a Deployment as users write it. */
export const deployment = (
  name: string,
  more: Readonly<Record<string, unknown>> = {},
  pod: object = {},
): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    ...more,
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          { name: 'main', image: 'busybox:1.37', command: ['sleep', '3600'], env: [{ name: 'A', value: '1' }] },
        ],
        ...pod,
      },
    },
  },
})

/** Returns a Deployment whose Pods stay pending, as do those of its mirror if its settings select no nodes. */
export const pendingDeployment = (
  name: string,
  more: Readonly<Record<string, unknown>> = {},
  pod: object = {},
): KubeObject => deployment(name, more, { nodeSelector: NO_NODE, ...pod })

export const DEPLOYMENT = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name })

/** Returns an object without what the server and its controllers write. */
export function withoutServerFields(object: KubeObject | undefined): unknown {
  if (!object) return undefined
  const { metadata, status: _, ...rest } = object as KubeObject & { status?: unknown } // it may have one
  const { resourceVersion: __, generation: ___, managedFields = [], annotations = {}, ...kept } = metadata
  const { 'deployment.kubernetes.io/revision': ____, ...own } = annotations
  const owners = managedFields.filter(({ manager }) => manager !== 'kube-controller-manager')
  return { ...rest, metadata: { ...kept, annotations: own, managedFields: owners } }
}
