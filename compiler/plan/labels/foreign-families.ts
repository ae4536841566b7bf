import type { Span } from '../../text/source.ts'

/**
 * The devctl equivalent of another tool's label: a text, or a function of the label; undefined for a label that only
 * enables other labels.
 */
export interface Meaning {
  readonly label: RegExp
  readonly write: string | ((label: Said) => string | undefined)
}

/** A label, or a key of an extension. */
export interface Said {
  readonly name: string
  readonly value: string
  readonly span: Span
  readonly service?: string
}

export interface Family {
  readonly tool: string
  /** Matches every label of the family, listed or not. */
  readonly prefix: RegExp
  readonly meanings: readonly Meaning[]
}

const autoscaler = '`x-autoscale: {min: 1, max: 10, cpu: 70%}`, with `deploy.resources.reservations`'
const readiness = '`healthcheck` with `test` or `http: {path: …, port: …}`, which is a readiness probe'
const liveness = '`healthcheck` with `x-platform-liveness: true`'

/**
 * The devctl equivalents of other tools' labels. If several meanings of a family match a label, the first one counts.
 */
export const families: readonly Family[] = [
  {
    tool: 'kompose',
    prefix: /^kompose\./,
    meanings: [
      { label: /^kompose\.service\.type$/, write: serviceType },
      { label: /^kompose\.service\.expose$/, write: ({ value, service }) => exposed(value, service) },
      {
        label: /^kompose\.service\.expose\.tls-secret$/,
        write: '`tlsSecret` of the environment in devctl.yml, or `--tls-secret`',
      },
      {
        label: /^kompose\.service\.expose\.ingress-class-name$/,
        write: '`ingressClass` of the environment in devctl.yml, or `--ingress-class`',
      },
      {
        label: /^kompose\.service\.(nodeport\.port|external-traffic-policy)$/,
        write: '`x-expose: {type: NodePort}` at the port',
      },
      {
        label: /^kompose\.service\.group$/,
        write: '`network_mode: service:NAME`, which makes one Pod of two services',
      },
      {
        label: /^kompose\.service\.name_override$/,
        write: 'an alias under `networks`, or another name of the service',
      },
      { label: /^kompose\.service\.healthcheck\.readiness\./, write: readiness },
      { label: /^kompose\.service\.healthcheck\.liveness\./, write: liveness },
      { label: /^kompose\.controller\.type$/, write: controllerType },
      { label: /^kompose\.controller\.port\.expose$/, write: '`mode: host` at the port' },
      { label: /^kompose\.image-pull-policy$/, write: ({ value }) => `\`pull_policy: ${pullPolicy(value)}\`` },
      { label: /^kompose\.image-pull-secret$/, write: '`imagePullSecrets` of the namespace’s default service account' },
      {
        label: /^kompose\.volume\.size$/,
        write: ({ value }) => `\`driver_opts: {size: ${value}}\` at the top-level volume`,
      },
      {
        label: /^kompose\.volume\.storage-class-name$/,
        write: ({ value }) => `\`driver_opts: {class: ${value}}\` at the top-level volume`,
      },
      { label: /^kompose\.volume\.subpath$/, write: ({ value }) => `\`volume: {subpath: ${value}}\` at the mount` },
      {
        label: /^kompose\.volume\.type$/,
        write: 'a named volume for a claim, `type: tmpfs` for memory, a bind mount for files',
      },
      { label: /^kompose\.init\.containers\./, write: '`pre_start` of the service' },
      { label: /^kompose\.security-context\.fsgroup$/, write: '`group_add`, or `user` with the group' },
      { label: /^kompose\.hpa\./, write: autoscaler },
      { label: /^kompose\.cronjob\.schedule$/, write: ({ value, service }) => scheduled(value, service) },
      {
        label: /^kompose\.cronjob\.concurrency_policy$/,
        write: '`concurrency: forbid` or `queue` at the schedule of the job',
      },
      { label: /^kompose\.cronjob\./, write: 'nothing: a failed run of a job is not repeated' },
      { label: /^kompose\.serviceaccount-name$/, write: 'nothing: Pods have no token of the API server' },
    ],
  },
  {
    tool: 'Traefik',
    prefix: /^traefik\./,
    meanings: [
      { label: /^traefik\.http\.routers\.[^.]+\.rule$/i, write: routerRule },
      { label: /^traefik\.frontend\.rule$/i, write: routerRule },
      { label: /^traefik\.http\.services\.[^.]+\.loadbalancer\.server\.port$/i, write: serverPort },
      { label: /^traefik\.port$/i, write: serverPort },
      {
        label: /^traefik\.http\.routers\.[^.]+\.tls(\.|$)/i,
        write: 'the routes have TLS; `tlsSecret` of the environment names the certificate',
      },
      {
        label: /^traefik\.http\.(routers\.[^.]+\.middlewares$|middlewares\.)/i,
        write: 'annotations of the ingress controller under `labels` of `endpoints`',
      },
      { label: /^traefik\.(tcp|udp)\./i, write: '`x-expose: {type: LoadBalancer}` at the port' },
      // Labels that only enable other labels, or refer to Traefik's own configuration.
      {
        label: /^traefik\.(enable|docker\.|http\.routers\.[^.]+\.(entrypoints|service|priority)$)/i,
        write: () => undefined,
      },
    ],
  },
  {
    tool: 'Okteto',
    prefix: /^(dev\.okteto\.com\/|x-okteto)/,
    meanings: [
      {
        label: /^dev\.okteto\.com\/(update|policy)$/,
        write: ({ name, value }) => `\`dev.platform/${name.split('/')[1]}: ${value}\``,
      },
      {
        label: /^dev\.okteto\.com\/(auto-ingress|generate-host|private)$/,
        write: '`endpoints`, or a public port (`8080:80`)',
      },
      {
        label: /^x-okteto-(readiness|liveness)$/,
        write: ({ name, value }) => `\`x-platform-${name.slice('x-okteto-'.length)}: ${value}\``,
      },
    ],
  },
]

/** Returns the devctl equivalent of a label of another tool; undefined if the label has none. */
export function equivalentOf(label: Said): string | undefined {
  const write = families
    .find(({ prefix }) => prefix.test(label.name))
    ?.meanings.find(meaning => meaning.label.test(label.name))?.write
  return typeof write === 'function' ? write(label) : write
}

function serviceType({ value }: Said): string | undefined {
  switch (value.toLowerCase()) {
    case 'headless':
      return '`deploy: {endpoint_mode: dnsrr}`'
    case 'nodeport':
      return '`x-expose: {type: NodePort}` at the port'
    case 'loadbalancer':
      return '`x-expose: {type: LoadBalancer}` at the port'
    default:
      // The default type of a Service needs no equivalent.
      return undefined
  }
}

function controllerType({ value }: Said): string | undefined {
  switch (value.toLowerCase()) {
    case 'daemonset':
      return '`deploy: {mode: global}`'
    case 'statefulset':
      return 'a named or anonymous volume, which makes the service a StatefulSet'
    default:
      return 'nothing: a service without volumes is a Deployment'
  }
}

/** Describes the equivalent of a schedule: a job in place of the service. */
const scheduled = (cron: string, service = 'backup'): string =>
  `a job: move \`${service}\` from \`services\` to \`jobs\`, without \`restart\`, and add \`triggers: {schedule: [${JSON.stringify(cron)}]}\``

/**
 * Describes the equivalent of an `expose` label: `true` requests any address; any other value names one or more hosts.
 */
function exposed(value: string, service = 'web'): string {
  if (/^(true|)$/i.test(value)) return 'a public port (`8080:80`), or a rule under `endpoints`'
  const [host = '', path = '/'] = splitAt(value.split(',')[0]!.trim())
  return endpointFor(host, path, service)
}

function splitAt(address: string): readonly [string, string] {
  const slash = address.indexOf('/')
  return slash < 0 ? [address, '/'] : [address.slice(0, slash), address.slice(slash)]
}

/**
 * Describes the equivalent of a router rule: `Host(...)` and `PathPrefix(...)` of Traefik 2 and 3, and `Host:` of
 * Traefik 1.
 */
function routerRule({ value, service = 'web' }: Said): string {
  const hosts = /\bHost(?:Regexp)?\s*\(([^)]*)\)/.exec(value)?.[1] ?? /\bHost:\s*([^;]*)/.exec(value)?.[1] ?? ''
  const host = hosts.split(',')[0]!.replace(/[`'"\s]/g, '')
  const path = /\bPath(?:Prefix)?(?:\(\s*|:\s*)[`'"]?([^`'",;)\s]+)/.exec(value)?.[1] ?? '/'
  return host === ''
    ? `a rule under \`endpoints\`: \`{path: ${path}, service: ${service}, port: …}\``
    : endpointFor(host, path, service)
}

const endpointFor = (host: string, path: string, service: string): string =>
  `an endpoint with \`host: ${host}\` and the rule \`{path: ${path}, service: ${service}, port: …}\``

function serverPort({ value, service = 'web' }: Said): string {
  return `\`port: ${value}\` in the rule of \`endpoints\` that leads to \`${service}\``
}

const pullPolicy = (value: string): string => ({ always: 'always', never: 'never' })[value.toLowerCase()] ?? 'missing'
