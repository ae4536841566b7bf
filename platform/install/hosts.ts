import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../records/names.ts'
import { LONGER_NAMES } from '../records/namespace.ts'

const GROUP = 'admissionregistration.k8s.io/v1'
const NAME = 'devctl-hosts'

/**
 * Which hosts and addresses a namespace can have (design, section 5): its own ones, and no way by
 * which it could get the traffic of another one, or of the platform. It holds for everybody.
 */
export function hostsPolicy(domain: string): readonly KubeObject[] {
  const rules = (apiGroup: string, ...resources: readonly string[]) => ({
    apiGroups: [apiGroup],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE'],
    resources,
  })
  return [
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: NAME },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
          resourceRules: [
            rules('networking.k8s.io', 'ingresses'),
            rules('gateway.networking.k8s.io', 'httproutes', 'grpcroutes', 'tlsroutes'),
            rules('', 'services'),
          ],
        },
        // What was there before this policy, or before a longer name, can be put to sleep and woken.
        matchConditions: [{ name: 'changed', expression: CHANGED }],
        variables: variables(domain),
        validations: validations(domain),
      },
    },
    {
      apiVersion: GROUP,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: NAME },
      spec: { policyName: NAME, validationActions: ['Deny'] },
    },
  ]
}

const same = (path: string): string => `object.?${path}.orValue(null) == oldObject.?${path}.orValue(null)`
/** The fields by which sleep works are not looked at here. */
const CHANGED = `request.operation == 'CREATE' || request.resource.resource != 'ingresses' || !(${[
  'spec.?rules',
  'spec.?tls',
  'spec.?defaultBackend',
  'metadata.?annotations',
]
  .map(same)
  .join(' && ')})`

/**
 * Annotations of controllers by which an Ingress has other hosts, or settings of its own for all of
 * them: `nginx.ingress.kubernetes.io/server-alias`, `…/configuration-snippet`, `alb.…/conditions.x`.
 */
const ANNOTATION = String.raw`(alias|snippet|/conditions\\.|tls\\.domains|router\\.rule|group\\.name|/config-)`

const variables = (domain: string) => [
  { name: 'resource', expression: 'request.resource.resource' },
  { name: 'name', expression: 'namespaceObject.metadata.name' },
  {
    name: 'longer',
    expression: `namespaceObject.metadata.?annotations[?'${LONGER_NAMES}'].orValue('').split(',').filter(n, n != '')`,
  },
  {
    name: 'hosts',
    expression: [
      "variables.resource == 'ingresses'",
      "? object.spec.?rules.orValue([]).map(r, r.?host.orValue(''))",
      ": (variables.resource == 'services' ? [] : (object.spec.?hostnames.orValue([]).size() == 0 ? [''] : object.spec.hostnames))",
    ].join(' '),
  },
  {
    name: 'wrong',
    expression: `variables.hosts.filter(h, !(h.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?-' + variables.name + '${quoted(`.${domain}`)}$')))`,
  },
  {
    name: 'taken',
    expression: `variables.hosts.filter(h, variables.longer.exists(n, h == n + '.${domain}' || h.endsWith('-' + n + '.${domain}')))`,
  },
]

/** Of a domain in a regular expression in a text of CEL: only its dots mean something. */
const quoted = (text: string): string => text.replaceAll('.', String.raw`\\.`)

const validations = (domain: string) => [
  {
    expression: 'variables.wrong.size() == 0',
    messageExpression: `"host '" + variables.wrong[0] + "' is not one of this namespace; its hosts are NAME-" + variables.name + ".${domain}"`,
    message: `hosts of a namespace are NAME-NAMESPACE.${domain}`,
  },
  {
    expression: 'variables.taken.size() == 0',
    messageExpression: `"host '" + variables.taken[0] + "' is one of another namespace, whose name ends with that of this one"`,
    message: 'this host is one of another namespace',
  },
  {
    expression: "variables.resource != 'ingresses' || !has(object.spec.defaultBackend)",
    message: 'a default backend would get the requests of all hosts; write rules with hosts',
  },
  {
    expression:
      "variables.resource != 'ingresses' || object.spec.?tls.orValue([]).all(t, t.?hosts.orValue([]).size() > 0 && t.hosts.all(h, h in variables.hosts))",
    message: 'the hosts of `tls` are those of the rules',
  },
  {
    expression: "variables.resource != 'ingresses' || object.spec.?tls.orValue([]).all(t, !has(t.secretName))",
    message: 'the certificate is that of the platform: leave `secretName` out',
  },
  {
    expression: `variables.resource != 'ingresses' || object.metadata.?annotations.orValue({}).all(k, !k.matches('${ANNOTATION}'))`,
    message: 'an annotation of this Ingress changes which requests it gets, or the settings of the ingress controller',
  },
  {
    expression: "variables.resource != 'services' || object.spec.?externalIPs.orValue([]).size() == 0",
    message: '`externalIPs` would take the traffic of these addresses',
  },
  {
    expression: `variables.resource != 'services' || object.spec.?type.orValue('') != 'ExternalName' || object.spec.externalName.matches('^[a-z0-9.-]*[a-z0-9-]\\\\.[a-z0-9-]*[a-z][a-z0-9-]*\\\\.?$') && !object.spec.externalName.matches('(^|\\\\.)(svc|local|localhost|internal)(\\\\.|$)')`,
    message: 'an external name cannot be one of the cluster itself: that would be a way around its network policies',
  },
]
