import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import { didYouMean } from '../../../diagnostics/suggest.ts'
import type { At, Span } from '../../../text/source.ts'
import { entry, get, isMap, type MapTree, type SeqTree, type Tree } from '../../../text/tree.ts'
import { withoutLastSlash } from '../../../values/path-prefix.ts'
import type { EndpointRule, Endpoints } from '../../project.ts'
import { entries, nonEmptyText, pairs, text } from '../tree-values.ts'
import { readHosts, readTls } from './hosts.ts'
import { readPortNumber } from './port-number.ts'

const empty = diagnostic({
  code: 'endpoints/empty',
  severity: 'error',
  explain: `An endpoint needs at least one rule: a path, and the service and port that requests are sent to.

\`\`\`yaml
endpoints:
  - path: /
    service: web
    port: 8080
\`\`\``,
  text: (p: { name?: string | undefined }) => ({
    message: p.name === undefined ? '`endpoints` has no rules' : `the endpoint \`${p.name}\` has no rules`,
    hint: 'add a rule: `{path: /, service: web, port: 8080}`',
  }),
})

const badPath = diagnostic({
  code: 'endpoints/bad-path',
  severity: 'error',
  explain:
    'The path of an endpoint rule starts with `/`. It is a prefix: `/api` matches `/api` and everything below it. It must not contain a host name, a query or a pattern.',
  text: (p: { path: string; reason: string; hint: string }) => ({
    message: `the path \`${p.path}\` ${p.reason}`,
    hint: p.hint,
  }),
})

const samePath = diagnostic({
  code: 'endpoints/duplicate-path',
  severity: 'error',
  explain:
    'Two rules of one endpoint have the same path, so it is not clear which service gets the request. A slash at the end makes no difference. Give them different paths, or remove one.',
  text: (p: { path: string }) => ({ message: `two rules of this endpoint have the path \`${p.path}\`` }),
})

const unknownService = diagnostic({
  code: 'reference/endpoint-service',
  severity: 'error',
  explain:
    'An endpoint rule names a service that the Compose files do not define. The name must match a key of `services` exactly.',
  text: (p: { service: string; hint: string | undefined }) => ({
    message: `the endpoint rule names the service \`${p.service}\`, which does not exist`,
    hint: p.hint,
  }),
})

/** The services that rules may refer to. */
interface KnownServices {
  /** The active services. */
  readonly services: ReadonlySet<string>
  /** Services that are inactive or in error. Rules that refer to them are left out. */
  readonly absent: ReadonlySet<string>
  /** Set if there may be more services, because a file could not be read. */
  readonly isIncomplete?: true | undefined
}

/** Reads the top-level `endpoints` in any of its three notations. */
export function readEndpoints(tree: MapTree, known: KnownServices, reporter: Reporter): Endpoints | undefined {
  const found = entry(tree, 'endpoints')
  if (!found) return undefined
  const { key: span, value } = found
  const reader = new RuleReader(known, reporter)
  if (value.kind === 'seq') return { span, endpoints: [{ rules: reader.list(value, span), span }], labels: [] }
  if (!isMap(value)) return undefined
  const rules = value.entries.get('rules')
  if (rules?.value.kind === 'seq' && isLabelled(value))
    return {
      span,
      endpoints: [{ rules: reader.list(rules.value, rules.key, undefined, value), span: rules.key }],
      labels: pairs(value, ['labels'], ''),
    }
  const endpoints: Endpoints['endpoints'][number][] = []
  for (const [name, { key, value: list }] of entries(value)) {
    const named = { name: { value: name, span: key }, span: key }
    const inner = get(list, 'rules')
    if (list.kind === 'seq') endpoints.push({ ...named, rules: reader.list(list, key, name) })
    else if (isMap(list) && inner?.kind === 'seq')
      endpoints.push({ ...named, rules: reader.list(inner, key, name, list), labels: pairs(list, ['labels'], '') })
  }
  if (value.entries.size === 0) reporter.report(empty, span, {})
  return { span, endpoints, labels: [] }
}

/**
 * True if a mapping with the key `rules` uses the third notation, with the members `rules` and `labels`. If `labels` is
 * a list of rules instead, `rules` and `labels` are the names of two endpoints.
 */
function isLabelled(tree: MapTree): boolean {
  return tree.entries.get('labels')?.value.kind !== 'seq'
}

class RuleReader {
  readonly #known: KnownServices
  readonly #reporter: Reporter

  constructor(known: KnownServices, reporter: Reporter) {
    this.#known = known
    this.#reporter = reporter
  }

  /**
   * Reads the rules of one endpoint, which has the given `span` and `name`. Rules that lack `host` or `tls` use the
   * values in `common`.
   */
  list(tree: SeqTree, span: Span, name?: string, common?: Tree): readonly EndpointRule[] {
    if (tree.items.length === 0) this.#reporter.report(empty, span, { name })
    const first = new Map<string, Span>()
    const rules: EndpointRule[] = []
    for (const item of tree.items) {
      const rule = this.#rule(item, common)
      if (!rule) continue
      const { value: path, span: place } = rule.path
      // Rules with different custom hosts may have the same path.
      const prefix = withoutLastSlash(path)
      const keys = rule.hosts.length > 0 ? rule.hosts.map(host => `${host.name.value}${prefix}`) : [prefix]
      const other = keys.map(key => first.get(key)).find(Boolean)
      if (other) this.#reporter.report(samePath, place, { path }, [{ span: other, message: 'the other rule is here' }])
      for (const key of keys) if (!first.has(key)) first.set(key, place)
      rules.push(rule)
    }
    return rules
  }

  #rule(tree: Tree, common: Tree | undefined): EndpointRule | undefined {
    const path = this.#path(text(tree, 'path'))
    const service = this.#service(nonEmptyText(tree, 'service'))
    const port = readPortNumber(tree, ['port'], { reporter: this.#reporter })
    const tls = readTls(get(tree, 'tls') ?? get(common, 'tls'), this.#reporter)
    const hosts = readHosts(get(tree, 'host') ?? get(common, 'host'), tls, this.#reporter)
    return path && service && port ? { span: tree.span, path, service, port, hosts } : undefined
  }

  #path(path: At<string> | undefined): At<string> | undefined {
    if (!path) return undefined
    const { value, span } = path
    const bad = !value.startsWith('/')
      ? ['does not start with `/`', `write \`/${value.replace(/^[a-z]+:\/\/[^/]*\/?/, '')}\``]
      : /[\s?#]|\/\//.test(value)
        ? ['is not a valid URL path', 'write a path without spaces, `?`, `#` and `//`']
        : /\/\.{1,2}(\/|$)|%2f/i.test(value)
          ? ['has segments that proxies normalize', 'write a path without `.`, `..` and `%2F`']
          : undefined
    if (!bad) return path
    this.#reporter.report(badPath, span, { path: value, reason: bad[0] ?? '', hint: bad[1] ?? '' })
    return undefined
  }

  #service(service: At<string> | undefined): At<string> | undefined {
    if (!service || this.#known.services.has(service.value)) return service
    if (this.#known.isIncomplete || this.#known.absent.has(service.value)) return undefined
    const hint = didYouMean(service.value, this.#known.services)
    this.#reporter.report(unknownService, service.span, { service: service.value, hint })
    return undefined
  }
}
