import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-pods'

/**
 * What a Pod of a managed namespace cannot make its node do, besides what the Pod Security level refuses: nodes are
 * in other networks than Pods, and no network policy holds for them. It is asked when a Pod is made: later,
 * none of that can be changed.
 */
export const podsPolicy = (): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule([''], ['pods'], ['CREATE'])],
    },
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
    ],
  })

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
