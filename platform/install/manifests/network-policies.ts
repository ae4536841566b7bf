import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL, OWN_POLICIES } from '../../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-network-policies'
const GROUP = 'networking.k8s.io'
/**
 * API groups of network plugins. The plugins define their own kinds of policies, some of which override the
 * NetworkPolicies of Kubernetes.
 */
const PLUGINS = ['cilium.io', 'crd.projectcalico.org', 'projectcalico.org', 'crd.antrea.io']
const OF_PLUGINS = ['networkpolicies', 'ciliumnetworkpolicies', 'networksets']

/**
 * Returns the policy for the NetworkPolicies that members of a managed namespace may write. NetworkPolicies are
 * additive, so a member's NetworkPolicy could only allow traffic that the platform's NetworkPolicies deny. Members may
 * allow ingress, because that exposes only their own Pods, and egress to Pods of the same namespace and to DNS.
 * Accounts that may write such policies in all namespaces, such as the platform and the administrators of the cluster,
 * are exempt.
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
        message: 'policies of the network plugin are reserved for administrators of the cluster',
      },
      {
        expression: ['object', 'oldObject']
          .map(one => `(${one} == null || !(${one}.metadata.name in [${OWN}]))`)
          .join(' && '),
        message:
          'this network policy belongs to the platform: only administrators of the cluster can change or delete it',
      },
      {
        expression: `object == null || object.?spec.?egress.orValue([]).all(rule, (${TO_OWN_PODS}) || (${TO_DNS}))`,
        message:
          'here, `egress` can only allow Pods of the same namespace (`podSelector`) and DNS; destinations outside of the cluster need no rule: leave it out',
      },
    ],
  })
}

const OWN = OWN_POLICIES.map(name => `'${name}'`).join(', ')
const IN_ALL_NAMESPACES =
  "authorizer.group(request.resource.group).resource(request.resource.resource).check(request.operation == 'DELETE' ? 'delete' : 'update').allowed()"

/**
 * Returns CEL that is true if a condition is true for all peers of a rule. The CEL is false for a rule without `to`,
 * which allows all destinations.
 */
const peers = (each: string): string => `rule.?to.orValue([]).size() > 0 && rule.to.all(peer, ${each})`
const TO_OWN_PODS = peers('has(peer.podSelector) && !has(peer.namespaceSelector) && !has(peer.ipBlock)')
/**
 * CEL that is true for a DNS rule in the form that devctl generates: DNS servers are Pods of some namespace, or a cache
 * on the node. Named ports are not allowed, because any Pod can define such a name.
 */
const TO_DNS = [
  peers("has(peer.ipBlock) ? peer.ipBlock.cidr == '169.254.0.0/16' : has(peer.namespaceSelector)"),
  'rule.?ports.orValue([]).size() > 0',
  'rule.ports.all(one, has(one.port) && (one.port == 53 || one.port == 5353) && !has(one.endPort))',
].join(' && ')
