import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-pods'
const ENDS = 'devctl-pod-ends'
/**
 * Seconds that a Pod may take to end. When a namespace is deleted, older versions of Kubernetes delete its network
 * policies before its Pods have ended (CVE-2024-7598).
 */
const LONGEST_GRACE = 600

/**
 * What a Pod of a managed namespace cannot make its node do, besides what the Pod Security level refuses: nodes are
 * in other networks than Pods, and no network policy holds for them. It is asked when a Pod is made: later,
 * none of that can be changed.
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
    ],
    validations: [
      {
        expression: `object.spec.?volumes.orValue([]).all(v, ${[...SOURCES.map(name => `has(v.${name})`), OWN_DRIVERS].join(' || ')})`,
        message:
          'a Pod here mounts nothing from the network by itself, as its node would reach it for the Pod: use a claim',
      },
      {
        expression: `variables.containers.all(c, ${PROBES.map(probe => `(!has(c.${probe}) || ${isHostless(`c.${probe}`)})`).join(' && ')})`,
        message: 'a probe of a container has no `host`: the node would ask another address than that of the Pod',
      },
      {
        expression: `variables.containers.all(c, !has(c.lifecycle) || ${HOOKS.map(hook => `(!has(c.lifecycle.${hook}) || ${isHostless(`c.lifecycle.${hook}`)})`).join(' && ')})`,
        message: 'a lifecycle hook has no `host`: the node would ask another address than that of the Pod',
      },
      {
        // The API server has written the priority of its class there: the default one's, too.
        expression:
          "!object.spec.?priorityClassName.orValue('').startsWith('system-') && object.spec.?priority.orValue(0) <= 0",
        message:
          'a Pod here has no priority above 0, as it would have those of others evicted: leave `priorityClassName` out, or have the operator of the cluster lower its default class',
      },
      {
        expression: `object.spec.?terminationGracePeriodSeconds.orValue(30) <= ${LONGEST_GRACE}`,
        message: `a Pod here ends within ${LONGEST_GRACE / 60} minutes: lower \`stop_grace_period\` (\`terminationGracePeriodSeconds\`) to ${LONGEST_GRACE} seconds or less`,
      },
    ],
  })

/** Who deletes or evicts a Pod can give it another time than its own. */
const endedPods = () =>
  admissionPolicy(ENDS, {
    matchConstraints: {
      ...IN_MANAGED,
      resourceRules: [resourceRule([''], ['pods'], ['DELETE']), resourceRule([''], ['pods/eviction'], ['CREATE'])],
    },
    validations: [
      // The API server has written the time of the Pod there, where who deletes it says none.
      {
        expression: `request.operation != 'DELETE' || ${endsSoon('request.options')} || request.options.gracePeriodSeconds <= oldObject.spec.?terminationGracePeriodSeconds.orValue(30)`,
        message: TOO_LONG,
      },
      { expression: `request.operation == 'DELETE' || ${endsSoon('object.deleteOptions')}`, message: TOO_LONG },
    ],
  })
const TOO_LONG = `a Pod here ends within ${LONGEST_GRACE / 60} minutes: give it ${LONGEST_GRACE} seconds or less`
const endsSoon = (options: string): string =>
  `!has(${options}) || !has(${options}.gracePeriodSeconds) || ${options}.gracePeriodSeconds <= ${LONGEST_GRACE}`

/** Volumes that are in the namespace, in the Pod, or in an image. */
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
/** Drivers of volumes without a claim that mount no share whose address the Pod names. */
const OWN_DRIVERS = "(has(v.csi) && v.csi.driver in ['secrets-store.csi.k8s.io', 'csi.cert-manager.io'])"
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe']
const HOOKS = ['postStart', 'preStop']

const isHostless = (of: string): string =>
  ['httpGet', 'tcpSocket'].map(one => `${of}.?${one}.?host.orValue('') == ''`).join(' && ')
