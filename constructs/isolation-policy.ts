import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { Environment, NetworkPolicyPlan, PolicyPeerRule } from '../compiler/plan/plan.ts'
import { environmentLabels, objectMeta } from './labels.ts'

/** A NetworkPolicy that determines which Pods of an environment may connect to each other. */
export class IsolationPolicy extends k8s.KubeNetworkPolicy {
  constructor(
    scope: Construct,
    id: string,
    { plan, environment }: { plan: NetworkPolicyPlan; environment: Environment },
  ) {
    super(scope, id, policyProps(plan, environment))
  }
}

/** Returns the JSON of a NetworkPolicy, without a chart. */
export function policyJson(plan: NetworkPolicyPlan, environment: Environment): object {
  return k8s.KubeNetworkPolicy.manifest(policyProps(plan, environment))
}

function policyProps(plan: NetworkPolicyPlan, environment: Environment): k8s.KubeNetworkPolicyProps {
  const ingress = plan.ingress?.map(rule => ({ from: peers(rule, environment), ports: ports(rule) }))
  const egress = plan.egress?.map(rule => ({ to: peers(rule, environment), ports: ports(rule) }))
  return {
    metadata: objectMeta(plan, environment),
    spec: {
      podSelector: podSelector(plan.podLabels, environment),
      policyTypes: [...(ingress ? ['Ingress'] : []), ...(egress ? ['Egress'] : [])],
      // A direction in `policyTypes` without rules denies all connections.
      ingress: ingress?.length ? ingress : undefined,
      egress: egress?.length ? egress : undefined,
    },
  }
}

/**
 * Returns the peers of a rule; undefined allows any peer. The cluster's DNS runs in Pods of any namespace, and on many
 * clusters also in a cache on the node, which has a link-local address.
 * https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
 */
function peers(rule: PolicyPeerRule, environment: Environment): k8s.NetworkPolicyPeer[] | undefined {
  if (rule.dns) return [{ namespaceSelector: {} }, { ipBlock: { cidr: '169.254.0.0/16' } }]
  return rule.podLabels && [{ podSelector: podSelector(rule.podLabels, environment) }]
}

/**
 * Ports of DNS servers. Policies apply to Pod ports, and OpenShift's DNS Pods listen on 5353 although their Service
 * uses 53.
 */
const dnsPorts = [53, 5353].flatMap(port => (['UDP', 'TCP'] as const).map(protocol => ({ port, protocol })))

function ports(rule: PolicyPeerRule): k8s.NetworkPolicyPort[] | undefined {
  const listed = rule.ports ?? (rule.dns ? dnsPorts : undefined)
  return listed?.map(({ port, protocol }) => ({ port: k8s.IntOrString.fromNumber(port), protocol }))
}

function podSelector(labels: Readonly<Record<string, string>>, environment: Environment): k8s.LabelSelector {
  return { matchLabels: { ...environmentLabels(environment), ...labels } }
}
