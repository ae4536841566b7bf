import type { Pair, Project, Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { narrow, type PlanContext } from '../context.ts'
import { HOST_VARIABLE, type HostWord, hostsIn, type TextKind } from './host-words.ts'

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

/** A position where a text uses a service as a host. */
export interface Mention {
  /** Compose name of the service that the text refers to. */
  readonly service: string
  readonly host: string
  readonly port?: number
  /**
   * True if the word can only be a host; false if it may be another word of the same name, such as the name of a
   * database.
   */
  readonly isHost: boolean
  /** The services that the text belongs to. */
  readonly from: ReadonlySet<string>
  /** Description of the text for messages, such as `` `DATABASE_URL` of `web` ``. */
  readonly where: string
  readonly span: Span
}

export interface Mentions {
  /** Returns the positions where other services mention a service. */
  of(service: string): readonly Mention[]
  /** Returns the positions where a service uses itself as a host. */
  ofItself(service: string): readonly Mention[]
}

interface Text {
  readonly text: string
  readonly kind: TextKind
  readonly span: Span
  readonly where: string
  readonly from: ReadonlySet<string>
  /**
   * True if a number after the name can be a port. False in an IMAGE variable, where the number is a version
   * (`redis:7`).
   */
  readonly ports: boolean
  /** The variable that has the text as its value, and all variables of the same service. */
  readonly variable?: { readonly name: string; readonly all: readonly Pair[] }
}

/** A file that is mounted. */
export interface MountedFile {
  readonly service: string
  /** Path of the file in the container. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly span: Span
}

/**
 * Finds where services name their peers and themselves: in environment, command, entrypoint, healthcheck, the contents
 * of configs, and mounted files. Reads each text once, regardless of the number of services. Reports host names that
 * are not valid in the cluster.
 */
export function findMentions({ project, names, reporter }: PlanContext, files: Iterable<MountedFile>): Mentions {
  const hosts = hostNames(project)
  const addresses = fixedAddresses(project)
  const hostnames = ownHostnames(project)
  const isName = (word: string) => hosts.has(word) || addresses.has(word) || hostnames.has(word)
  const found = new Map<string, Mention[]>()
  const own = new Map<string, Mention[]>()
  for (const text of textsOf(project, files)) {
    reporter.budget.checkTime(text.span)
    // Words come in text order, so each line is counted only once.
    let [line, counted] = [1, 0]
    for (const word of hostsIn(text.text, text.kind, isName)) {
      const { host, written } = word
      line += text.text.slice(counted, word.index).split('\n').length - 1
      counted = word.index
      const where = text.kind === 'file' ? `line ${line} of ${text.where}` : text.where
      const addressed = addresses.get(host)
      if (addressed !== undefined)
        reporter.report(oldAddress, narrow(text.span, host), { address: host, name: names.of(addressed), where })
      const { port, isHost } = text.variable ? inVariable(word, text.text, text.variable) : word
      const span = narrow(text.span, written)
      const mention = { host, isHost, from: text.from, where, span, ...(text.ports && port && { port }) }
      for (const service of hostnames.get(host) ?? [])
        if (text.from.has(service) && isHost && !hosts.get(host)?.has(service)) push(own, { ...mention, service })
      for (const service of hosts.get(host) ?? []) {
        const isOwn = text.from.has(service)
        if (isOwn && isHost) push(own, { ...mention, service })
        const isOfAnother = !isOwn || text.from.size > 1
        if (isOfAnother) push(found, { ...mention, service })
        if (!isOfAnother && !isHost) continue
        // A name with dots may be the name of the Pod (dotted-names.ts).
        if (host === service.toLowerCase() && names.isRenamed(service) && !host.includes('.'))
          reporter.report(oldHostName, narrow(span, host), { host: service, name: names.of(service), where })
      }
    }
  }
  return { of: service => found.get(service) ?? [], ofItself: service => own.get(service) ?? [] }
}

function push(lists: Map<string, Mention[]>, mention: Mention): void {
  const list = lists.get(mention.service)
  if (list) list.push(mention)
  else lists.set(mention.service, [mention])
}

/**
 * Completes a host that was found in the value of a variable. Returns `isHost`, which is true if the word can only be a
 * host, and the port if it is known. A variable whose name stands for a host contains only hosts. If the host is the
 * full value, its port is looked up in a related variable, such as `DB_PORT` for `DB_HOST`.
 */
function inVariable(
  { host, port, isHost, index }: HostWord,
  value: string,
  { name, all }: NonNullable<Text['variable']>,
): Pick<Mention, 'port' | 'isHost'> {
  const holdsHosts = HOST_VARIABLE.test(name) && /(?:^|[\s,;["'])$/.test(value.slice(0, index))
  if (port !== undefined || !holdsHosts || value.trim().toLowerCase() !== host)
    return { isHost: isHost || holdsHosts, ...(port !== undefined && { port }) }
  const beside = name.replace(/(?:HOST(?:_?NAME)?|SERVER|ADDR(?:ESS)?|ENDPOINT|BROKER|NODE|URL|URI)$/i, '')
  const number = Number(all.find(one => one.name.toUpperCase() === `${beside}PORT`.toUpperCase())?.value)
  return { isHost: true, ...(Number.isInteger(number) && number > 0 && number < 65536 && { port: number }) }
}

/** Maps each name that Compose resolves, in lower case, to the services that it resolves to. */
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

/** Maps each `hostname` to the services that set it. Other services cannot reach them by this name. */
function ownHostnames(project: Project): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const { name, hostname } of project.services.values()) {
    const host = hostname?.value.toLowerCase()
    if (host !== undefined) found.set(host, [...(found.get(host) ?? []), name])
  }
  return found
}

/** Maps the fixed addresses in the file to their services. */
const fixedAddresses = (project: Project): ReadonlyMap<string, string> =>
  new Map(
    [...project.services.values()].flatMap(({ name, networks }) =>
      networks.flatMap(({ addresses }) => addresses.map(address => [address, name] as const)),
    ),
  )

function* textsOf(project: Project, files: Iterable<MountedFile>): Generator<Text> {
  const users = new Map<string, Set<string>>()
  for (const service of project.services.values()) {
    yield* textsOfService(service)
    for (const { source } of service.configs) users.set(source, (users.get(source) ?? new Set()).add(service.name))
  }
  for (const [key, from] of users) {
    const config = project.configs.get(key)
    if (!config?.content) continue
    const text = new TextDecoder().decode(config.content)
    yield { text, kind: 'file', span: config.span, where: `the config \`${key}\``, from, ports: true }
  }
  for (const { service, path, bytes, span } of files) {
    // Binary files, such as programs and images, contain no host names.
    if (bytes.subarray(0, 8000).includes(0)) continue
    const where = `\`${path}\` of \`${service}\``
    yield { text: new TextDecoder().decode(bytes), kind: 'file', span, where, from: new Set([service]), ports: true }
  }
}

function* textsOfService(service: Service): Generator<Text> {
  const from = new Set([service.name])
  const of = `of \`${service.name}\``
  const all = service.environment
  for (const { name, value, span } of all) {
    const ports = !/(IMAGE|TAG|VERSION)$/i.test(name)
    yield { text: value, kind: 'variable', span, where: `\`${name}\` ${of}`, from, ports, variable: { name, all } }
  }
  const command = { kind: 'command', from, ports: true } as const
  for (const key of ['entrypoint', 'command'] as const) {
    const words = service[key]
    if (words) yield { ...command, text: words.words.join(' '), span: words.span, where: `the ${key} ${of}` }
  }
  const check = service.healthcheck?.check
  const where = `the healthcheck ${of}`
  if (check?.kind === 'exec') yield { ...command, text: check.command.join(' '), span: check.span, where }
  if (check?.kind === 'shell') yield { ...command, text: check.script, span: check.span, where }
}
