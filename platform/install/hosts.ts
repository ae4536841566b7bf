import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../records/names.ts'
import { LONGER_NAMES } from '../records/namespace.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-hosts'

/**
 * Which hosts and addresses a namespace can have (design, section 5): its own ones, and no way by
 * which it could get the traffic of another one, or of the platform. It holds for everybody.
 */
export function hostsPolicy(domain: string): readonly KubeObject[] {
  const rules = (apiGroup: string, ...resources: readonly string[]) =>
    resourceRule([apiGroup], resources, ['CREATE', 'UPDATE'])
  return admissionPolicy(NAME, {
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
  })
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
 * Annotations that ingress controllers and external-dns read. By many an Ingress gets other hosts, or
 * settings for all of them: `server-alias`, `configuration-snippet`, Traefik's `router.pathmatcher`. So
 * all are refused but those that are known to be about the requests of the Ingress itself.
 */
const OF_CONTROLLER =
  '^[^/]*(ingress|traefik|haproxy|nginx|kong|contour|ambassador|istio|cilium|azure|amazonaws|alb|appgw|external-dns|zalando\\\\.org|skipper|higress|apisix|easegress|citrix|f5\\\\.com)[^/]*/'
const HARMLESS = `^nginx\\\\.ingress\\\\.kubernetes\\\\.io/(${[
  'affinity',
  'backend-protocol',
  'cors-[a-z-]+',
  'enable-cors',
  'force-ssl-redirect',
  'limit-(connections|rps|rpm)',
  'proxy-(body-size|buffering|buffer-size|connect-timeout|read-timeout|request-buffering|send-timeout)',
  'rewrite-target',
  'session-cookie-[a-z-]+',
  'ssl-redirect',
  'use-regex',
  'whitelist-source-range',
].join('|')})$|^traefik\\\\.ingress\\\\.kubernetes\\\\.io/router\\\\.(entrypoints|tls)$`
/** Values that are nothing but a value in the files that controllers write: no quote, no end of a line or of a statement, no block. */
const VALUE = '^[A-Za-z0-9 ._:/,$()*?=&+|^~%@-]*$'
/** A path that is nothing but a path in the rules and files that ingress controllers write: no quote, no end of a line. */
const PATH = '^/[A-Za-z0-9._~!$&()*+,=:@%/|?^-]*$'

/** Texts of a match of a route that ingress controllers put between quotes. */
const QUOTABLE = ["string(m.?path.?value.orValue(''))", "string(m.?method.?service.orValue(''))"]

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
    expression: `object.metadata.?annotations.orValue({}).all(k, !k.matches('${OF_CONTROLLER}') || k.matches('${HARMLESS}'))`,
    messageExpression: `"the annotation '" + object.metadata.annotations.map(k, k).filter(k, k.matches('${OF_CONTROLLER}') && !k.matches('${HARMLESS}'))[0] + "' is not among those that are allowed here: it could change which requests come to this namespace"`,
    message: 'an annotation could change which requests come to this namespace',
  },
  {
    expression: `object.metadata.?annotations.orValue({}).all(k, !k.matches('${OF_CONTROLLER}') || object.metadata.annotations[k].matches('${VALUE}'))`,
    message:
      'the value of an annotation has a character (a quote, `;`, `{`, `\\` or the end of a line) that would be more than a value for an ingress controller',
  },
  {
    expression: `variables.resource != 'ingresses' || object.spec.?rules.orValue([]).all(r, !has(r.http) || r.http.paths.all(p, p.?path.orValue('/').matches('${PATH}')))`,
    message: 'a path of this Ingress has a character that no path needs',
  },
  {
    expression: `!(variables.resource in ['httproutes', 'grpcroutes']) || object.spec.?rules.orValue([]).all(r, r.?matches.orValue([]).all(m, ${QUOTABLE.map(one => `!(${one}).contains('\`')`).join(' && ')} && m.?headers.orValue([]).all(h, !(h.name + string(h.?value.orValue(''))).contains('\`')) && m.?queryParams.orValue([]).all(q, !(q.name + string(q.?value.orValue(''))).contains('\`'))))`,
    message: 'a match of this route has a backtick',
  },
  {
    expression: "variables.resource != 'services' || object.spec.?externalIPs.orValue([]).size() == 0",
    message: '`externalIPs` would take the traffic of these addresses',
  },
  {
    // Without the dot, programs try names of the cluster first: `pod.web.shop` is one, and `web.shop.svc`, too.
    // A service of the same namespace is what `external_links` become.
    expression: `variables.resource != 'services' || object.spec.?type.orValue('') != 'ExternalName' || object.spec.externalName.matches('^[a-z0-9-]+\\\\.' + variables.name + '\\\\.svc\\\\.cluster\\\\.local$') || object.spec.externalName.matches('^([a-z0-9_-]+\\\\.){2,}$') && !object.spec.externalName.matches('(^|\\\\.)(svc|pod|local|localhost|internal)\\\\.') && !object.spec.externalName.matches('\\\\.[0-9]+\\\\.$')`,
    message:
      'an external name ends with a dot (`db.example.com.`), and is none of the cluster itself but a Service of this namespace: that would be a way around its network policies',
  },
]
