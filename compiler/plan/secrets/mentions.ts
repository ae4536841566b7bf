import type { Project, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { narrow, type PlanContext } from '../context.ts'

const oldHostName = diagnostic({
  code: 'names/old-host-name',
  severity: 'warning',
  loss: true,
  explain: `The text names a host that does not exist in Kubernetes: the Compose name of the service is not a valid host name, so the service has another name. The application would not reach it.

\`\`\`yaml
services:
  my_db: {image: postgres:17}
  web:
    environment:
      DATABASE_HOST: my_db    # is my-db in the cluster
\`\`\`

Rename the service in the Compose file and use the new name here. It works in Compose and in Kubernetes.`,
  text: (p: { host: string; name: string; where: string }) => ({
    message: `${p.where} uses the host \`${p.host}\`, which is \`${p.name}\` in Kubernetes`,
    hint: `write \`${p.name}\`, and rename the service to it`,
  }),
})

const oldAddress = diagnostic({
  code: 'names/static-address',
  severity: 'warning',
  loss: true,
  explain: `The text contains the fixed IP address of a service. In a cluster a Pod has a new address at every start, so this address does not work. Use the name of the service, which is stable.

\`\`\`yaml
environment:
  DNS_SERVER: pihole        # not 10.5.0.3
\`\`\``,
  text: (p: { address: string; name: string; where: string }) => ({
    message: `${p.where} uses the address \`${p.address}\`, which \`${p.name}\` does not have in Kubernetes`,
    hint: `write \`${p.name}\``,
  }),
})

/** A place where one service names another as a host. */
export interface Mention {
  /** The Compose name of the service that is meant. */
  readonly service: string
  readonly host: string
  readonly port?: number
  /** In words: `` `DATABASE_URL` of `web` ``. */
  readonly where: string
  readonly span: Span
}

export interface Mentions {
  /** By the service that is meant. */
  of(service: string): readonly Mention[]
}

interface Text {
  readonly text: string
  readonly span: Span
  readonly where: string
  readonly from: ReadonlySet<string>
  /** True if a number after the name can be a port: `redis:7` in an IMAGE is none. */
  readonly ports: boolean
}

/**
 * Finds where services name their peers: in environment, command, entrypoint, healthcheck and the
 * contents of configs. Each text is read once, however many services there are. Reports the host
 * names that are not valid any more.
 */
export function findMentions({ project, names, reporter }: PlanContext): Mentions {
  const hosts = hostNames(project)
  const addresses = fixedAddresses(project)
  const isHost = (word: string) => hosts.has(word) || addresses.has(word)
  const found = new Map<string, Mention[]>()
  for (const text of textsOf(project)) {
    reporter.budget.checkTime(text.span)
    for (const { host, port, written } of hostsIn(text.text, isHost)) {
      const addressed = addresses.get(host)
      if (addressed !== undefined)
        reporter.report(oldAddress, narrow(text.span, host), {
          address: host,
          name: names.of(addressed),
          where: text.where,
        })
      for (const service of hosts.get(host) ?? []) {
        if (text.from.size === 1 && text.from.has(service)) continue
        const span = narrow(text.span, written)
        const mention: Mention = { service, host, where: text.where, span, ...(text.ports && port && { port }) }
        const list = found.get(service)
        if (list) list.push(mention)
        else found.set(service, [mention])
        if (host === service.toLowerCase() && names.isRenamed(service))
          reporter.report(oldHostName, span, { host: service, name: names.of(service), where: text.where })
      }
    }
  }
  return { of: service => found.get(service) ?? [] }
}

/**
 * Every name under which Compose resolves a service, in lower case, with the services it leads to.
 */
function hostNames(project: Project): ReadonlyMap<string, ReadonlySet<string>> {
  const hosts = new Map<string, Set<string>>()
  const add = (host: string, service: string) => {
    const key = host.toLowerCase()
    const known = hosts.get(key)
    if (known) known.add(service)
    else hosts.set(key, new Set([service]))
  }
  for (const service of project.services.values()) {
    add(service.name, service.name)
    if (service.containerName) add(service.containerName.value, service.name)
    for (const { aliases } of service.networks) for (const alias of aliases) add(alias.value, service.name)
    for (const link of service.links) if (project.services.has(link.service)) add(link.alias, link.service)
  }
  return hosts
}

/** The services by the addresses that the file gives them. */
const fixedAddresses = (project: Project): ReadonlyMap<string, string> =>
  new Map(
    [...project.services.values()].flatMap(({ name, networks }) =>
      networks.flatMap(({ addresses }) => addresses.map(address => [address, name] as const)),
    ),
  )

function* textsOf(project: Project): Generator<Text> {
  const users = new Map<string, Set<string>>()
  for (const service of project.services.values()) {
    yield* textsOfService(service)
    for (const { source } of service.configs) users.set(source, (users.get(source) ?? new Set()).add(service.name))
  }
  for (const [key, from] of users) {
    const config = project.configs.get(key)
    if (!config?.content) continue
    const text = new TextDecoder().decode(config.content)
    yield { text, span: config.span, where: `the config \`${key}\``, from, ports: true }
  }
}

function* textsOfService(service: Service): Generator<Text> {
  const from = new Set([service.name])
  const of = `of \`${service.name}\``
  for (const { name, value, span } of service.environment)
    yield { text: value, span, where: `\`${name}\` ${of}`, from, ports: !/(IMAGE|TAG|VERSION)$/i.test(name) }
  for (const key of ['entrypoint', 'command'] as const) {
    const words = service[key]
    if (words) yield { text: words.words.join(' '), span: words.span, where: `the ${key} ${of}`, from, ports: true }
  }
  const check = service.healthcheck?.check
  const where = `the healthcheck ${of}`
  if (check?.kind === 'exec') yield { text: check.command.join(' '), span: check.span, where, from, ports: true }
  if (check?.kind === 'shell') yield { text: check.script, span: check.span, where, from, ports: true }
}

const MOST_TEXT = 1 << 20

/**
 * The words of a text that are names of hosts, each with the port behind it. Left out: parts of
 * paths (`/db`, `./db`), names of variables (`db=`), and ports below 20, which are versions of
 * images more often than ports.
 */
function* hostsIn(
  text: string,
  isHost: (word: string) => boolean,
): Generator<{ host: string; port?: number; written: string }> {
  // No container starts with more, and a word of such a length is too much for a regular
  // expression.
  if (text.length > MOST_TEXT) return
  for (const match of text.matchAll(/[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?/g)) {
    const host = match[0].toLowerCase()
    if (!isHost(host)) continue
    const before = text.slice(Math.max(0, match.index - 2), match.index)
    if (/[./\\$-]$/.test(before) && before !== '//') continue
    const rest = text.slice(match.index + match[0].length, match.index + match[0].length + 8)
    if (/^\s?=(?!=)/.test(rest)) continue
    const digits = /^:(\d{1,5})(?![\w-]|\.\d)/.exec(rest)?.[1]
    const port = Number(digits)
    const isPort = port >= 20 && port <= 65535
    yield {
      host,
      written: isPort ? `${match[0]}:${digits}` : match[0],
      ...(isPort && { port }),
    }
  }
}
