import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../../records/names.ts'
import { LONGER_NAMES } from '../../records/namespace.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-hosts'

/**
 * Returns the admission policy that limits a namespace to its own hosts and addresses (design, section 5). The policy
 * also denies everything that would redirect the traffic of another namespace, or of the platform, to the namespace. It
 * applies to all users.
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
    // Objects that were created before this policy, or before another namespace got a longer matching name, can still
    // be put to sleep and woken.
    matchConditions: [{ name: 'changed', expression: CHANGED }],
    variables: variables(domain),
    validations: validations(domain),
  })
}

const same = (path: string): string => `object.?${path}.orValue(null) == oldObject.?${path}.orValue(null)`
/** Condition that exempts updates of Ingresses that change only the fields that sleep changes. */
const CHANGED = `request.operation == 'CREATE' || request.resource.resource != 'ingresses' || !(${[
  'spec.?rules',
  'spec.?tls',
  'spec.?defaultBackend',
  'metadata.?annotations',
]
  .map(same)
  .join(' && ')})`

/**
 * Annotations that ingress controllers and external-dns read. Many of them give an Ingress further hosts, or change the
 * settings of all Ingresses: `server-alias`, `configuration-snippet`, Traefik's `router.pathmatcher`. So all are
 * denied, except those that are known to affect only the requests of the Ingress itself.
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
/**
 * Pattern of annotation values that remain plain values in the configuration files that controllers generate: no
 * quotes, line breaks, statement ends, or blocks.
 */
const VALUE = '^[A-Za-z0-9 ._:/,$()*?=&+|^~%@-]*$'
const NGINX = '^nginx\\\\.ingress\\\\.kubernetes\\\\.io/'
const NETWORK =
  '(([0-9]{1,3}\\\\.){3}[0-9]{1,3}(/([0-9]|[12][0-9]|3[0-2]))?|[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){2,7}(/([0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]))?)'
/**
 * Patterns for annotations with a restricted syntax. A controller writes their values into one configuration for all
 * routes, and an invalid value would keep it from loading that configuration. The patterns allow some wrong values,
 * such as the address 999.0.0.1.
 */
const VALUES: readonly (readonly [names: string, value: string, what: string])[] = [
  ['proxy-(connect|read|send)-timeout|limit-(connections|rps|rpm)|cors-max-age', '^[0-9]{1,9}$', 'a number'],
  ['session-cookie-(expires|max-age)', '^-?[0-9]{1,9}$', 'a number'],
  ['proxy-body-size', '^[0-9]{1,9}[kKmMgG]?$', 'a size, such as `8m`'],
  ['proxy-(buffering|request-buffering)', '^(on|off)$', '`on` or `off`'],
  [
    'cors-allow-credentials|enable-cors|(force-)?ssl-redirect|use-regex|session-cookie-(secure|change-on-failure|conditional-samesite-none)',
    '^(true|false)$',
    '`true` or `false`',
  ],
  ['affinity', '^cookie$', '`cookie`'],
  ['backend-protocol', '^(?i:auto_http|https?|grpcs?|fcgi)$', 'a protocol, such as `GRPC`'],
  ['rewrite-target|session-cookie-(name|path|domain|samesite)', '^[^ ]+$', 'one word'],
  ['whitelist-source-range', `^ *${NETWORK} *(, *${NETWORK} *)*$`, 'a list of networks, such as `192.0.2.0/24`'],
]
/**
 * Annotation for the size of a buffer. nginx allocates five of these buffers for each response that a client reads
 * slowly.
 */
const BUFFER_SIZE = 'nginx.ingress.kubernetes.io/proxy-buffer-size'
const UP_TO_256K = '^([1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-6])[kK]$'
/**
 * Pattern of paths that remain plain paths in the rules and files that ingress controllers generate: no quotes or line
 * breaks.
 */
const PATH = '^/[A-Za-z0-9._~!$&()*+,=:@%/|?^-]*$'

/**
 * CEL expressions for the path, and the service and the method of gRPC, in a match `m` of a route. Ingress controllers
 * put these strings in quotes.
 */
const QUOTABLE = [
  "string(m.?path.?value.orValue(''))",
  "string(m.?method.?service.orValue(''))",
  "string(m.?method.?method.orValue(''))",
]

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

/**
 * Escapes a domain for a regular expression in a CEL string. Only the dots are escaped, because a domain has no other
 * special characters.
 */
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
    message: 'this host belongs to another namespace',
  },
  {
    expression: "variables.resource != 'ingresses' || !has(object.spec.defaultBackend)",
    message: 'a default backend would receive the requests of all hosts; write rules with hosts',
  },
  {
    expression:
      "variables.resource != 'ingresses' || object.spec.?tls.orValue([]).all(t, t.?hosts.orValue([]).size() > 0 && t.hosts.all(h, h in variables.hosts))",
    message: 'the hosts of `tls` have to be hosts of the rules',
  },
  {
    expression: "variables.resource != 'ingresses' || object.spec.?tls.orValue([]).all(t, !has(t.secretName))",
    message: 'the platform provides the certificate: leave `secretName` out',
  },
  {
    expression: `object.metadata.?annotations.orValue({}).all(k, !k.matches('${OF_CONTROLLER}') || k.matches('${HARMLESS}'))`,
    messageExpression: `"the annotation '" + object.metadata.annotations.map(k, k).filter(k, k.matches('${OF_CONTROLLER}') && !k.matches('${HARMLESS}'))[0] + "' is not among those that are allowed here: it could change which requests come to this namespace"`,
    message: 'an annotation could change which requests reach this namespace',
  },
  {
    expression: `object.metadata.?annotations.orValue({}).all(k, !k.matches('${OF_CONTROLLER}') || object.metadata.annotations[k].matches('${VALUE}'))`,
    message:
      'the value of an annotation contains a quote, `;`, `{`, `\\` or a line break, which an ingress controller could interpret',
  },
  ...VALUES.map(([names, value, what]) => {
    const isWrong = `k.matches('${NGINX}(${names})$') && !object.metadata.annotations[k].matches('${value}')`
    return {
      expression: `object.metadata.?annotations.orValue({}).all(k, !(${isWrong}))`,
      messageExpression: `"the value of the annotation '" + object.metadata.annotations.map(k, k).filter(k, ${isWrong})[0] + "' is not ${what}"`,
      message: `the value of an annotation is not ${what}`,
    }
  }),
  {
    expression: `object.metadata.?annotations[?'${BUFFER_SIZE}'].orValue('1k').matches('${UP_TO_256K}')`,
    message: `the value of \`${BUFFER_SIZE}\` is not between \`1k\` and \`256k\`: others need the memory of the ingress controller, too`,
  },
  {
    expression: `variables.resource != 'ingresses' || object.spec.?rules.orValue([]).all(r, !has(r.http) || r.http.paths.all(p, p.?path.orValue('/').matches('${PATH}')))`,
    message: 'a path of this Ingress contains a character that is not allowed in a path',
  },
  {
    // ingress-nginx treats all paths of a host as regular expressions if one of its routes requests it. A path that is
    // not a valid expression makes the evaluation fail, so the policy denies the Ingress.
    expression: `variables.resource != 'ingresses' || object.spec.?rules.orValue([]).all(r, !has(r.http) || r.http.paths.all(p, type('/'.matches('^' + p.?path.orValue('/'))) == bool))`,
    message: 'a path of this Ingress is not a regular expression',
  },
  {
    expression: `!(variables.resource in ['httproutes', 'grpcroutes']) || object.spec.?rules.orValue([]).all(r, r.?matches.orValue([]).all(m, ${QUOTABLE.map(one => `!(${one}).contains('\`')`).join(' && ')} && m.?headers.orValue([]).all(h, !(h.name + string(h.?value.orValue(''))).contains('\`')) && m.?queryParams.orValue([]).all(q, !(q.name + string(q.?value.orValue(''))).contains('\`'))))`,
    message: 'a match of this route contains a backtick',
  },
  {
    expression: "variables.resource != 'services' || object.spec.?externalIPs.orValue([]).size() == 0",
    message: '`externalIPs` would redirect the traffic of these addresses',
  },
  {
    // Resolvers first try the name inside the cluster without the trailing dot: `pod.web.shop` would resolve there, and
    // so would `web.shop.svc`. `external_links` become a Service of the same namespace.
    expression: `variables.resource != 'services' || object.spec.?type.orValue('') != 'ExternalName' || object.spec.externalName.matches('^[a-z0-9-]+\\\\.' + variables.name + '\\\\.svc\\\\.cluster\\\\.local$') || object.spec.externalName.matches('^([a-z0-9_-]+\\\\.){2,}$') && !object.spec.externalName.matches('(^|\\\\.)(svc|pod|local|localhost|internal)\\\\.') && !object.spec.externalName.matches('\\\\.[0-9]+\\\\.$')`,
    message:
      'an external name has to end with a dot (`db.example.com.`), and names of the cluster itself are allowed only for Services of this namespace: others would bypass its network policies',
  },
]
