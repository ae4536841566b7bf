import { equivalentOf } from '../../compiler/plan/labels/foreign-families.ts'
import { type ComposeEdits, type LabelledService, portsOf, type ServiceLabel } from './compose-labels.ts'
import { type RouterRule, readRouterRule } from './traefik-rule.ts'

/** Converts the labels of Traefik on services into rules of `endpoints`. */
export function convertTraefik(services: readonly LabelledService[], edits: ComposeEdits): undefined {
  const ofAll = services.flatMap(({ labels }) => labels.filter(isTraefik))
  const defined = new Set(ofAll.flatMap(({ name }) => /^traefik\.http\.middlewares\.([^.]+)\./i.exec(name)?.[1] ?? []))
  for (const service of services) {
    const labels = service.labels.filter(isTraefik)
    if (labels.some(({ name, value }) => /^traefik\.enable$/i.test(name) && /^false$/i.test(value))) continue
    for (const label of labels) convertLabel(label, service, labels, edits, defined)
  }
}

const isTraefik = ({ name }: ServiceLabel): boolean => /^traefik\./i.test(name)

/**
 * Matches labels that need neither a conversion nor a report: devctl's routes have TLS, the cluster has its own entry
 * points, and labels of services and ports are read together with the rules.
 */
const NEEDLESS =
  /^traefik\.(?:enable$|docker\.|http\.routers\.[^.]+\.(?:service|priority|tls(?:\.|$)|rulesyntax$)|http\.services\.[^.]+\.loadbalancer\.(?:server\.port|passhostheader)$|port$|backend$|frontend\.entrypoints$|protocol$)/i
const RULE = /^traefik\.(?:http\.routers\.([^.]+)\.rule|frontend\.rule|[^.]+\.frontend\.rule)$/i

function convertLabel(
  label: ServiceLabel,
  service: LabelledService,
  labels: readonly ServiceLabel[],
  edits: ComposeEdits,
  defined: ReadonlySet<string>,
): undefined {
  const { name, value } = label
  const rule = RULE.exec(name)
  if (rule) return convertRule(label, rule[1], service, labels, edits)
  if (NEEDLESS.test(name)) return
  if (/\.entrypoints$/i.test(name)) {
    if (!/^(?:web|websecure|http|https)(?:,(?:web|websecure|http|https))*$/i.test(value))
      edits.lose(label, 'routes of devctl use the ports 80 and 443 of the cluster', hintFor(label, service))
    return
  }
  if (/^traefik\.http\.routers\.[^.]+\.middlewares$/i.test(name)) {
    // Middlewares that the file defines are reported where they are defined.
    const others = value.split(',').filter(one => !defined.has(one.trim().replace(/@docker$/, '')))
    if (others.length > 0) edits.lose(label, `\`${others.join(',')}\` is not in this file`, hintFor(label, service))
    return
  }
  // Routes of devctl are HTTPS.
  if (/\.middlewares\.[^.]+\.redirectscheme\./i.test(name) && /^(?:https|true|443)$/i.test(value)) return
  edits.lose(label, reasonFor(name), hintFor(label, service))
}

function reasonFor(name: string): string {
  if (/\.middlewares\./i.test(name)) return 'a middleware is a setting of the ingress controller'
  if (/^traefik\.(?:tcp|udp)\./i.test(name)) return 'routes of devctl are for HTTP'
  return 'it has no equivalent'
}

function hintFor(label: ServiceLabel, { name }: LabelledService): string | undefined {
  const equivalent = equivalentOf({ ...label, service: name })
  return equivalent === undefined || /^(?:leave|nothing) /.test(equivalent) ? equivalent : `use ${equivalent}`
}

function convertRule(
  label: ServiceLabel,
  router: string | undefined,
  service: LabelledService,
  labels: readonly ServiceLabel[],
  edits: ComposeEdits,
): undefined {
  const rules = readRouterRule(label.value)
  const port = portOf(router, service, labels)
  if ('problem' in rules) return edits.lose(label, rules.problem, hintFor(label, service))
  if (port === undefined) return edits.lose(label, 'the port of the service is not known', hintFor(label, service))
  for (const rule of rules.rules) addRule(label, rule, service.name, port, edits)
}

function addRule(label: ServiceLabel, rule: RouterRule, service: string, port: number, edits: ComposeEdits): undefined {
  const { host, path, isExact } = rule
  edits.addRule(service, { path, port, host })
  if (isExact && path !== '/')
    edits.lose(label, `the rule matches only \`${path}\`, and a route of devctl also what is below it`)
}

/**
 * Returns the port to which Traefik sends the requests of a router; undefined if the labels have no valid port, and the
 * service has no ports either.
 */
function portOf(
  router: string | undefined,
  { tree }: LabelledService,
  labels: readonly ServiceLabel[],
): number | undefined {
  const labelValue = (pattern: RegExp) => labels.find(({ name }) => pattern.test(name))?.value
  const target = labels.find(
    ({ name }) => name.toLowerCase() === `traefik.http.routers.${router}.service`.toLowerCase(),
  )?.value
  const named = target?.replace(/@docker$/, '').toLowerCase()
  const ports = labels.flatMap(({ name, value }) => {
    const of = /^traefik\.http\.services\.([^.]+)\.loadbalancer\.server\.port$/i.exec(name)?.[1]?.toLowerCase()
    return of === undefined ? [] : [{ of, value }]
  })
  const given =
    (named === undefined ? undefined : ports.find(({ of }) => of === named)?.value) ??
    ports.find(({ of }) => of === router?.toLowerCase())?.value ??
    ports[0]?.value ??
    labelValue(/^traefik\.(?:[^.]+\.)?port$/i)
  if (given !== undefined) return /^\d+$/.test(given) ? Number(given) : undefined
  // Without a label, Traefik takes the lowest port of the container.
  const own = portsOf(tree).flatMap(({ target: one }) => one ?? [])
  return own.length > 0 ? Math.min(...own) : undefined
}
