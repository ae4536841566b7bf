import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import { entry, get, isMap, type Tree } from '../../../text/tree.ts'
import { isDnsSubdomain } from '../../../values/dns-name.ts'
import type { CustomHost, TlsSource } from '../../project.ts'
import { nonEmptyText, textOf } from '../tree-values.ts'

const badHost = diagnostic({
  code: 'routes/bad-host',
  severity: 'error',
  explain: `A host of an endpoint or a port is a DNS name in lower case, without scheme, port or path. A leading \`*.\` matches any one label.

\`\`\`yaml
endpoints:
  - path: /
    service: web
    port: 8080
    host: shop.example.com
\`\`\``,
  text: (p: { host: string; hint: string }) => ({ message: `\`${p.host}\` is not a host name`, hint: p.hint }),
})

const badTls = diagnostic({
  code: 'routes/bad-tls',
  severity: 'error',
  explain:
    '`tls` names the source of the certificate of a host: `secret`, a Secret that holds it, or `issuer` or `clusterIssuer`, with which cert-manager issues it. Each is the name of a Kubernetes object.',
  text: (p: { message: string; hint: string }) => ({ message: p.message, hint: p.hint }),
})

/**
 * Reads the hosts in `host` or `x-host`: text, a mapping with `name` and `tls`, or a list of these. Hosts without `tls`
 * use `fallback`. Reports invalid host names.
 */
export function readHosts(
  tree: Tree | undefined,
  fallback: TlsSource | undefined,
  reporter: Reporter,
): readonly CustomHost[] {
  if (!tree || (tree.kind === 'scalar' && tree.value === null)) return []
  const found = tree.kind === 'seq' ? tree.items : [tree]
  const hosts = found.flatMap(item => readHost(item, fallback, reporter) ?? [])
  return hosts.filter(({ name }, index) => hosts.findIndex(other => other.name.value === name.value) === index)
}

function readHost(tree: Tree, fallback: TlsSource | undefined, reporter: Reporter): CustomHost | undefined {
  const name = isMap(tree) ? nonEmptyText(tree, 'name') : tree.kind === 'scalar' ? textOf(tree) : undefined
  if (!name) return undefined
  if (!isDnsSubdomain(name.value.replace(/^\*\./, '')) || !name.value.includes('.')) {
    reporter.report(badHost, name.span, { host: name.value, hint: hintFor(name.value) })
    return undefined
  }
  const tls = readTls(get(tree, 'tls'), reporter) ?? fallback
  return { name, ...(tls && { tls }) }
}

function hintFor(host: string): string {
  const bare = host
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/[:/?#].*$/s, '')
    .toLowerCase()
  return isDnsSubdomain(bare) && bare.includes('.')
    ? `write \`${bare}\``
    : 'write a whole host name, such as `shop.example.com`'
}

/** Reads `tls` of a host, endpoint or environment. Reports invalid names, and a `tls` that names two issuers. */
export function readTls(tree: Tree | undefined, reporter: Reporter): TlsSource | undefined {
  if (!tree || !isMap(tree)) return undefined
  const name = (key: string): string | undefined => {
    const found = nonEmptyText(tree, key)
    if (!found || isDnsSubdomain(found.value)) return found?.value
    const message = `\`${found.value}\` is not a valid name of a Kubernetes object`
    reporter.report(badTls, found.span, { message, hint: 'use lower-case letters, digits, `-` and `.`' })
    return undefined
  }
  const [secret, issuer, clusterIssuer] = ['secret', 'issuer', 'clusterIssuer'].map(name)
  const second = issuer !== undefined && clusterIssuer !== undefined && entry(tree, 'clusterIssuer')
  if (second)
    reporter.report(badTls, second.key, {
      message: '`issuer` and `clusterIssuer` cannot be combined',
      hint: 'keep one of them',
    })
  const named = issuer ?? clusterIssuer
  if (secret === undefined && named === undefined) return undefined
  return {
    span: tree.span,
    ...(secret !== undefined && { secret }),
    ...(named !== undefined && { issuer: { kind: issuer === undefined ? 'ClusterIssuer' : 'Issuer', name: named } }),
  }
}
