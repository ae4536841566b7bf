import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, OWN_POLICIES } from '../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-network-policies'
const GROUP = 'networking.k8s.io'
/** Network plugins have kinds of their own, some of which count more than those of Kubernetes. */
const PLUGINS = ['cilium.io', 'crd.projectcalico.org', 'projectcalico.org', 'crd.antrea.io']
const OF_PLUGINS = ['networkpolicies', 'ciliumnetworkpolicies', 'networksets']

/**
 * What members of a managed namespace may write about its network. NetworkPolicies add up, so each one
 * of theirs could only open what those of the platform leave closed. They may let others in, as that
 * opens nobody's Pods but their own, and let out to Pods of the same namespace and to DNS. Whoever may
 * write such policies in all namespaces, such as the platform and the administrators of the cluster, is not meant.
 */
export function networkPoliciesPolicy(): readonly KubeObject[] {
  const operations = ['CREATE', 'UPDATE', 'DELETE']
  return admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [
        resourceRule([GROUP], ['networkpolicies'], operations),
        resourceRule(PLUGINS, OF_PLUGINS, operations),
      ],
    },
    matchConditions: [{ name: 'member', expression: `!(${IN_ALL_NAMESPACES})` }],
    validations: [
      {
        expression: `request.resource.group == '${GROUP}'`,
        message: 'the policies of the network plugin are for administrators of the cluster',
      },
      {
        expression: ['object', 'oldObject']
          .map(one => `(${one} == null || !(${one}.metadata.name in [${OWN}]))`)
          .join(' && '),
        message:
          'this network policy is the one of the platform: only administrators of the cluster change or delete it',
      },
      {
        expression: `object == null || object.?spec.?egress.orValue([]).all(rule, (${TO_OWN_PODS}) || (${TO_DNS}))`,
        message:
          'here, `egress` leads to Pods of the same namespace (`podSelector`) or to DNS; what is outside of the cluster needs no rule: leave it out',
      },
    ],
  })
}

const OWN = OWN_POLICIES.map(name => `'${name}'`).join(', ')
const IN_ALL_NAMESPACES =
  "authorizer.group(request.resource.group).resource(request.resource.resource).check(request.operation == 'DELETE' ? 'delete' : 'update').allowed()"

/** CEL: of a rule. One without `to` leads everywhere. */
const peers = (each: string): string => `rule.?to.orValue([]).size() > 0 && rule.to.all(peer, ${each})`
const TO_OWN_PODS = peers('has(peer.podSelector) && !has(peer.namespaceSelector) && !has(peer.ipBlock)')
/** As devctl compiles it: DNS is Pods of some namespace, or a cache on the node. Ports by name are whatever a Pod calls so. */
const TO_DNS = [
  peers("has(peer.ipBlock) ? peer.ipBlock.cidr == '169.254.0.0/16' : has(peer.namespaceSelector)"),
  'rule.?ports.orValue([]).size() > 0',
  'rule.ports.all(one, has(one.port) && (one.port == 53 || one.port == 5353) && !has(one.endPort))',
].join(' && ')
