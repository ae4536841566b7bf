import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import type { Construct } from 'constructs'
import type { Environment, NetworkPolicyPlan, PolicyPeerRule } from '../compiler/plan/plan.ts'
import { environmentLabels, objectMeta } from './labels.ts'

/** A NetworkPolicy that decides which Pods of an environment may connect to each other. */
export class IsolationPolicy extends k8s.KubeNetworkPolicy {
  constructor(
    scope: Construct,
    id: string,
    { plan, environment }: { plan: NetworkPolicyPlan; environment: Environment },
  ) {
    super(scope, id, policyProps(plan, environment))
  }
}

/** The JSON of a NetworkPolicy, without a chart around it. */
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
      // A direction that is named without rules is closed.
      ingress: ingress?.length ? ingress : undefined,
      egress: egress?.length ? egress : undefined,
    },
  }
}

/**
 * The peers of a rule; undefined allows any peer. The cluster's DNS is Pods of some namespace, and
 * on many clusters a cache on the node, which has a link-local address.
 * https://kubernetes.io/docs/tasks/administer-cluster/nodelocaldns/
 */
function peers(rule: PolicyPeerRule, environment: Environment): k8s.NetworkPolicyPeer[] | undefined {
  if (rule.dns) return [{ namespaceSelector: {} }, { ipBlock: { cidr: '169.254.0.0/16' } }]
  return rule.podLabels && [{ podSelector: podSelector(rule.podLabels, environment) }]
}

/** Policies see the ports of Pods, and OpenShift's DNS listens on 5353 behind its Service's 53. */
const dnsPorts = [53, 5353].flatMap(port => (['UDP', 'TCP'] as const).map(protocol => ({ port, protocol })))

function ports(rule: PolicyPeerRule): k8s.NetworkPolicyPort[] | undefined {
  const listed = rule.ports ?? (rule.dns ? dnsPorts : undefined)
  return listed?.map(({ port, protocol }) => ({ port: k8s.IntOrString.fromNumber(port), protocol }))
}

function podSelector(labels: Readonly<Record<string, string>>, environment: Environment): k8s.LabelSelector {
  return { matchLabels: { ...environmentLabels(environment), ...labels } }
}
