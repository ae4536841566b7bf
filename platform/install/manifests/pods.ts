import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-pods'
const ENDS = 'devctl-pod-ends'
/**
 * Maximum termination grace period of a Pod, in seconds. When a namespace is deleted, older versions of Kubernetes
 * delete its network policies before its Pods have ended (CVE-2024-7598).
 */
const LONGEST_GRACE = 600

/**
 * Returns the policies for the Pods of managed namespaces. They deny requests to the node beyond those that the Pod
 * Security level denies, because nodes are in other networks than Pods and no network policy applies to them. The
 * fields are checked when a Pod is created, because none of them can be changed later.
 */
export const podsPolicy = (): readonly KubeObject[] => [...madePods(), ...endedPods()]

const IN_MANAGED = { namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } } }

const madePods = () =>
  admissionPolicy(NAME, {
    matchConstraints: { ...IN_MANAGED, resourceRules: [resourceRule([''], ['pods'], ['CREATE'])] },
    variables: [
      {
        name: 'containers',
        expression: 'object.spec.containers + object.spec.?initContainers.orValue([])',
      },
      { name: 'affinities', expression: AFFINITIES },
    ],
    validations: [
      {
        expression: `object.spec.?volumes.orValue([]).all(v, ${[...SOURCES.map(name => `has(v.${name})`), OWN_DRIVERS].join(' || ')})`,
        message:
          'a Pod here cannot mount a network share directly, because its node would connect to it, past the network policies: use a claim',
      },
      {
        expression: `variables.containers.all(c, ${PROBES.map(probe => `(!has(c.${probe}) || ${isHostless(`c.${probe}`)})`).join(' && ')})`,
        message: 'a probe here cannot have a `host`: the node would connect to another address than that of the Pod',
      },
      {
        expression: `variables.containers.all(c, !has(c.lifecycle) || ${HOOKS.map(hook => `(!has(c.lifecycle.${hook}) || ${isHostless(`c.lifecycle.${hook}`)})`).join(' && ')})`,
        message:
          'a lifecycle hook here cannot have a `host`: the node would connect to another address than that of the Pod',
      },
      {
        // The API server fills in the priority of the class, including the default class.
        expression:
          "!object.spec.?priorityClassName.orValue('').startsWith('system-') && object.spec.?priority.orValue(0) <= 0",
        message:
          'a Pod here cannot have a priority above 0, because it could evict Pods of others: leave `priorityClassName` out, or ask the operator of the cluster to lower the default class',
      },
      {
        // One Pod with an anti-affinity to all Pods and a topology that spans all nodes would keep all others from
        // starting.
        expression:
          'variables.affinities.all(a, !has(a.namespaceSelector) && a.?namespaces.orValue([]).all(n, n == request.namespace))',
        message:
          'a Pod here can have no affinity to Pods of other namespaces (`namespaces`, `namespaceSelector`), because it could keep them from starting',
      },
      {
        expression: `object.spec.?terminationGracePeriodSeconds.orValue(30) <= ${LONGEST_GRACE}`,
        message: `a Pod here has to end within ${LONGEST_GRACE / 60} minutes: lower \`stop_grace_period\` (\`terminationGracePeriodSeconds\`) to ${LONGEST_GRACE} seconds or less`,
      },
    ],
  })

/**
 * CEL expressions for lists of terms: the required and the preferred ones of a Pod's affinities and anti-affinities.
 */
const AFFINITIES = ['podAffinity', 'podAntiAffinity']
  .map(kind => `object.spec.?affinity.?${kind}`)
  .flatMap(kind => [
    `${kind}.?requiredDuringSchedulingIgnoredDuringExecution.orValue([])`,
    `${kind}.?preferredDuringSchedulingIgnoredDuringExecution.orValue([]).map(one, one.podAffinityTerm)`,
  ])
  .join(' + ')

/**
 * Returns the policy that limits the grace period in deletions and evictions of Pods. Such a request can override the
 * grace period of the Pod itself.
 */
const endedPods = () =>
  admissionPolicy(ENDS, {
    matchConstraints: {
      ...IN_MANAGED,
      resourceRules: [resourceRule([''], ['pods'], ['DELETE']), resourceRule([''], ['pods/eviction'], ['CREATE'])],
    },
    validations: [
      // The API server fills in the Pod's grace period if the request has none.
      {
        expression: `request.operation != 'DELETE' || ${endsSoon('request.options')} || request.options.gracePeriodSeconds <= oldObject.spec.?terminationGracePeriodSeconds.orValue(30)`,
        message: TOO_LONG,
      },
      { expression: `request.operation == 'DELETE' || ${endsSoon('object.deleteOptions')}`, message: TOO_LONG },
    ],
  })
const TOO_LONG = `a Pod here has to end within ${LONGEST_GRACE / 60} minutes: give it ${LONGEST_GRACE} seconds or less`
const endsSoon = (options: string): string =>
  `!has(${options}) || !has(${options}.gracePeriodSeconds) || ${options}.gracePeriodSeconds <= ${LONGEST_GRACE}`

/** Volumes whose data is in the namespace, in the Pod, or in an image. */
const SOURCES = [
  'configMap',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
]
/** CEL that is true for inline volumes of CSI drivers that cannot mount a share whose address the Pod chooses. */
const OWN_DRIVERS = "(has(v.csi) && v.csi.driver in ['secrets-store.csi.k8s.io', 'csi.cert-manager.io'])"
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe']
const HOOKS = ['postStart', 'preStop']

const isHostless = (of: string): string =>
  ['httpGet', 'tcpSocket'].map(one => `${of}.?${one}.?host.orValue('') == ''`).join(' && ')
