import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, RECORD_LABEL, RUNS_NAMESPACE } from '../../records/names.ts'
import {
  cloneSecret,
  inputSecret,
  NAMESPACE_LABEL,
  ownedBy,
  type RunRecord,
  runLabels,
  type WantedRun,
} from '../../records/run.ts'
import { clusterRoleOf } from '../../rules/accounts/roles.ts'
import type { RunSettings } from '../context.ts'

/** Names of the containers of a run. They start together, and the container `run` waits for the container `clone`. */
export const CLONE = 'clone' as const
export const RUN = 'run' as const

const ID = 65_532
/** Grace period in seconds for a command to stop. */
const GRACE = 30
/**
 * Time in seconds by which the Job's deadline exceeds the Pod's deadline, so that the Pod times out first and its log
 * can still be read.
 */
const SPARE = 600

/**
 * Returns the spec of a run's Job. Only the first container has the clone credential. The second container has the
 * run's own secrets, and executes no code of the repository before the first container is done. Neither container has a
 * Kubernetes token except those that it requests from the platform.
 */
export function jobSpec(
  wanted: WantedRun,
  { image, deadline, hasAuthorities }: RunSettings,
): Readonly<Record<string, unknown>> {
  const isCloned = wanted.repository !== undefined
  // Node.js would warn of a missing file.
  const trust = hasAuthorities ? [{ name: 'NODE_EXTRA_CA_CERTS', value: '/run/devctl/ca/ca.crt' }] : []
  const container = (name: string, requests: object, mounts: readonly object[]) => ({
    name,
    image,
    command: ['node', '/devctl/runner.cjs', name],
    env: [{ name: 'HOME', value: '/tmp' }, ...trust],
    workingDir: '/source',
    resources: {
      requests,
      limits: { memory: '1Gi', 'ephemeral-storage': '5Gi' },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'source', mountPath: '/source' }, readOnly('ca', '/run/devctl/ca'), ...mounts],
  })
  const clone = container(CLONE, { cpu: '10m', memory: '64Mi' }, [
    readOnly('clone', '/run/devctl/input'),
    { name: 'clone-tmp', mountPath: '/tmp' },
  ])
  const run = container(RUN, { cpu: '50m', memory: '128Mi' }, [
    readOnly('input', '/run/devctl/input'),
    readOnly('kubernetes', '/run/devctl/kubernetes'),
    { name: 'tmp', mountPath: '/tmp' },
  ])
  return {
    backoffLimit: 0,
    activeDeadlineSeconds: deadline + SPARE,
    template: {
      metadata: { labels: runLabels(wanted) },
      spec: {
        restartPolicy: 'Never',
        activeDeadlineSeconds: deadline,
        terminationGracePeriodSeconds: GRACE,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: ID,
          runAsGroup: ID,
          fsGroup: ID,
          seccompProfile: { type: 'RuntimeDefault' },
        },
        // The containers run side by side, because a node takes a second to notice the end of an init container.
        containers: [...(isCloned ? [clone] : []), run],
        volumes: [
          { name: 'source', emptyDir: { sizeLimit: '2Gi' } },
          { name: 'tmp', emptyDir: { sizeLimit: '2Gi' } },
          { name: 'input', secret: { secretName: inputSecret(wanted.id) } },
          { name: 'kubernetes', configMap: { name: 'kube-root-ca.crt' } },
          // Authorities of `platform install --ca`, and the operators' configuration of git.
          { name: 'ca', configMap: { name: 'ca', optional: true } },
          ...(isCloned
            ? [
                { name: 'clone', secret: { secretName: cloneSecret(wanted.id) } },
                { name: 'clone-tmp', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
              ]
            : []),
        ],
      },
    },
  }
}

const readOnly = (name: string, mountPath: string) => ({ name, mountPath, readOnly: true })

/** Returns a Secret of a run, which is deleted with the run. */
export const runSecret = (
  run: Pick<RunRecord, 'id' | 'uid'> & WantedRun,
  name: string,
  values: Readonly<Record<string, string>>,
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {
    name,
    namespace: RUNS_NAMESPACE,
    labels: { ...runLabels(run), [RECORD_LABEL]: 'run-part' },
    ownerReferences: ownedBy(run),
  },
  type: 'dev.platform/run',
  data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
})

/**
 * Returns the name of the ServiceAccount whose rights runs have in a namespace. It is in `devctl-runs`, so members of
 * the namespace cannot get its tokens. A later namespace of the same name has a different ServiceAccount.
 */
export const runAccount = ({ namespace, namespaceUid }: Pick<WantedRun, 'namespace' | 'namespaceUid'>): string =>
  `ns-${namespace}-${namespaceUid.slice(0, 8)}`

export const ACCOUNT_RECORD = 'run-account'

/**
 * Returns the ServiceAccount of runs in a namespace, and its RoleBinding, which grants the rights of a developer in the
 * namespace.
 */
export function accountObjects(of: Pick<WantedRun, 'namespace' | 'namespaceUid'>): readonly KubeObject[] {
  const name = runAccount(of)
  const labels = { [RECORD_LABEL]: ACCOUNT_RECORD, [MANAGED_LABEL]: 'true', [NAMESPACE_LABEL]: of.namespace }
  const rbac = 'rbac.authorization.k8s.io'
  return [
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace: RUNS_NAMESPACE, labels },
      automountServiceAccountToken: false,
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'devctl-runs', namespace: of.namespace, labels },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: clusterRoleOf('developer') },
      subjects: [{ kind: 'ServiceAccount', namespace: RUNS_NAMESPACE, name }],
    },
  ]
}
