import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Print } from '../../schema/load-rules.ts'
import { isMap, scalarTree, type Tree } from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import { parseAddresses, parseExtraHost } from '../../values/hosts.ts'
import { emptyMap, optionalInteger, record, texts } from './print.ts'

const badHost = diagnostic({
  code: 'extra-hosts/bad-entry',
  severity: 'error',
  explain:
    'An entry of `extra_hosts` is `HOST=ADDRESS`, with several addresses separated by commas: `db=10.0.0.7`, `v6=::1`.',
  text: (p: { text: string; reason: string; hint?: string | undefined }) => ({
    message: `bad host \`${p.text}\`: ${p.reason}`,
    hint: p.hint,
  }),
})
const badCount = diagnostic({
  code: 'gpus/bad-count',
  severity: 'error',
  explain:
    'A device count is a whole number, or `all`. A Pod cannot request all devices of a node: `all` becomes one, with a warning.',
  text: (p: { text: string }) => ({
    message: `\`${p.text}\` is not a valid device count`,
    hint: 'write a number, or `all`',
  }),
})

/** Prints `extra_hosts` as a sorted list of `HOST=ADDRESS`. */
export const printHosts: Print = (tree, context) => {
  const found: { readonly text: string; readonly tree: Tree }[] = []
  const fail = (at: Tree, written: string, reason: string, hint?: string) => {
    context.reporter.report(badHost, at.span, { text: written, reason, hint })
    context.failed = true
  }
  if (isMap(tree)) {
    for (const [host, { key, value }] of tree.entries) {
      if (host === '' || /[:=]/.test(host)) fail({ ...value, span: key }, host, 'it is not a valid host name')
      for (const address of value.kind === 'seq' ? value.items : [value])
        if (address.kind === 'scalar')
          found.push({ text: `${host}=${parseAddresses(scalarText(address)).join(',')}`, tree: address })
    }
  } else if (tree.kind === 'seq') {
    for (const entry of tree.items) {
      if (entry.kind !== 'scalar') continue
      const parsed = parseExtraHost(scalarText(entry))
      if (parsed.ok)
        for (const address of parsed.value.addresses)
          found.push({ text: `${parsed.value.host}=${address}`, tree: entry })
      else fail(entry, scalarText(entry), parsed.reason, parsed.hint)
    }
  }
  if (found.length === 0) return undefined
  found.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return { kind: 'seq', span: tree.span, items: found.map(({ text, tree: from }) => scalarTree(from.span, text)) }
}

/** Prints a device count: `all` as -1, zero omitted. Reports other text. */
export const printDeviceCount: Print = (tree, context) => {
  if (tree.kind !== 'scalar') return undefined
  const written = scalarText(tree)
  const value = /^all$/i.test(written) ? -1 : /^[-+]?\d+$/.test(written) ? Number(written) : undefined
  if (value === undefined) {
    context.reporter.report(badCount, tree.span, { text: written })
    context.failed = true
    return undefined
  }
  return value === 0 ? undefined : scalarTree(tree.span, value)
}

/** Prints the `test` of a healthcheck as a list; text becomes `CMD-SHELL`. */
export const printHealthTest: Print = (tree, context) => {
  if (tree.kind !== 'scalar') return texts(tree, context)
  if (tree.type === 'null') return undefined
  return { kind: 'seq', span: tree.span, items: [scalarTree(tree.span, 'CMD-SHELL'), tree] }
}

/** Prints a ulimit: a number, or a mapping with `soft` and `hard`. Zero is a limit, so it is kept. */
export const printUlimit: Print = (tree, context) =>
  tree.kind === 'scalar'
    ? (optionalInteger(tree, context) ?? emptyMap(tree))
    : record({ soft: optionalInteger, hard: optionalInteger })(tree, context)

/** Prints SSH keys as a list of `ID=PATH`. */
export const printSshKeys: Print = tree =>
  isMap(tree) && tree.entries.size > 0
    ? {
        kind: 'seq',
        span: tree.span,
        items: [...tree.entries].map(([id, { key, value }]) => {
          const path = value.kind === 'scalar' ? scalarText(value) : ''
          return scalarTree(key, path === '' ? id : `${id}=${path}`)
        }),
      }
    : undefined
