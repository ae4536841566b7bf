import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import type { ToLongForm } from '../../schema/load-rules.ts'
import type { Span } from '../../text/source.ts'
import { spanInside } from '../../text/span-inside.ts'
import {
  type Entry,
  entry,
  get,
  isMap,
  isNull,
  type MapTree,
  type ScalarTree,
  scalarTree,
  type Tree,
  withEntry,
} from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import type { Failed } from '../../values/parsed.ts'
import { parsePorts } from '../../values/port.ts'
import { parseVolume } from '../../values/volume.ts'
import { tooManyPorts } from '../read/network/ports.ts'

const badPort = diagnostic({
  code: 'ports/bad-short-form',
  severity: 'error',
  explain:
    'The short form of a port is `CONTAINER`, `PUBLIC:CONTAINER` or `IP:PUBLIC:CONTAINER`, each port a number from 1 to 65535 or a range of them, with `/udp` or `/sctp` at the end where it is not TCP. A container port alone is reachable inside the cluster only; with a public port before it, it gets a public address.',
  text: (p: { text: string; reason: string; hint?: string | undefined }) => ({
    message: `bad port \`${p.text}\`: ${p.reason}`,
    hint: p.hint,
  }),
})
/** Maximum number of ports in the port ranges of a service: all ports of two protocols. */
const MAX_PORTS = 131_072
const badVolume = diagnostic({
  code: 'volumes/bad-short-form',
  severity: 'error',
  explain:
    'The short form of a mount is `SOURCE:TARGET[:OPTIONS]`, or a target alone for an anonymous volume. A source that begins with `.`, `/` or `~` is a path on this machine; any other is a volume that top-level `volumes` declares.',
  text: (p: { text: string; reason: string; hint?: string | undefined }) => ({
    message: `bad mount \`${p.text}\`: ${p.reason}`,
    hint: p.hint,
  }),
})
const unknownOption = diagnostic({
  code: 'volumes/unknown-option',
  severity: 'warning',
  explain:
    'The options of a mount are `ro`, `rw`, `nocopy`, `z`, `Z` and the propagation modes (`rshared`, `rslave` and the like). Other options are ignored.',
  text: (p: { option: string }) => ({ message: `unknown mount option \`${p.option}\` is ignored` }),
})
const badDevice = diagnostic({
  code: 'devices/bad-short-form',
  severity: 'error',
  explain:
    'The short form of a device is `SOURCE[:TARGET[:PERMISSIONS]]`. If a part contains a colon, use the long form with `source`, `target` and `permissions`.',
  text: (p: { text: string }) => ({
    message: `the device \`${p.text}\` has too many colons`,
    hint: 'use the long form: `source`, `target`, `permissions`',
  }),
})
const noEquals = diagnostic({
  code: 'build/no-equals',
  severity: 'error',
  explain:
    'An item of `additional_contexts` is `NAME=CONTEXT`; an item of `ssh` is `ID=PATH`, or `default` alone for the agent.',
  text: (p: { text: string; hint: string }) => ({ message: `\`${p.text}\` has no \`=\``, hint: p.hint }),
})
const externalNames = diagnostic({
  code: 'schema/external-names',
  severity: 'error',
  explain:
    '`external: {name: …}` is the deprecated form of `external: true` with `name`. Both are given, with different names. Keep `external: true` and one `name`.',
  text: (p: { name: string }) => ({
    message: `\`external.name\` and \`name\` differ`,
    hint: `write \`external: true\` and \`name: ${p.name}\``,
  }),
})
const externalName = diagnostic({
  code: 'schema/external-name-is-old',
  severity: 'info',
  explain: '`external: {name: …}` is deprecated. Write `external: true` and `name: …`.',
  text: (p: { name: string }) => ({
    message: '`external.name` is deprecated',
    hint: `write \`external: true\` and \`name: ${p.name}\``,
  }),
})

const isText = (tree: Tree): tree is ScalarTree => tree.kind === 'scalar' && tree.type === 'string'

/** Converts text to a list with one item. */
export const listOfOne: ToLongForm = tree => (isText(tree) ? { kind: 'seq', span: tree.span, items: [tree] } : tree)

/** Converts a list of names to a mapping with the names as keys and null values. */
export const names: ToLongForm = tree =>
  tree.kind === 'seq'
    ? {
        kind: 'map',
        span: tree.span,
        entries: new Map(
          tree.items
            .filter(isText)
            .map(name => [name.value as string, { key: name.span, value: scalarTree(name.span, null) }]),
        ),
      }
    : tree

/** Returns a function that converts text to a mapping with the text under `key`, and leaves other values unchanged. */
export const underKey =
  (key: string): ToLongForm =>
  tree =>
    isText(tree) ? { kind: 'map', span: tree.span, entries: new Map([[key, { key: tree.span, value: tree }]]) } : tree

/** Converts text or a list to a list of mappings with `path` and `required`. */
export const envFiles: ToLongForm = tree => {
  const items = tree.kind === 'seq' ? tree.items : [tree]
  return {
    kind: 'seq',
    span: tree.span,
    items: items.map(item => {
      const map = isText(item) ? record(item, { path: item }) : item
      return isMap(map) && !map.entries.has('required') ? withEntry(map, 'required', scalarTree(map.span, true)) : map
    }),
  }
}

/** Converts `all` to a request for all devices. */
export const gpus: ToLongForm = tree =>
  isText(tree) ? { kind: 'seq', span: tree.span, items: [record(tree, { count: scalarTree(tree.span, 'all') })] } : tree

/** Converts `SOURCE:TARGET:PERMISSIONS` to a mapping. Reports text with too many colons. */
export const device: ToLongForm = (tree, { reporter }) => {
  if (!isText(tree)) return tree
  const text = tree.value as string
  const parts = text.split(':')
  if (parts.length > 3) {
    reporter.report(badDevice, tree.span, { text })
    return undefined
  }
  const [source = '', target = '', permissions = 'rwm'] = parts
  return record(tree, {
    source: scalarTree(tree.span, source),
    target: scalarTree(tree.span, target || source),
    permissions: scalarTree(tree.span, permissions),
  })
}

/**
 * Creates the mapping for a short form from the given values, without undefined ones. The span of each key is the span
 * of its value.
 */
function record(short: Tree, values: Readonly<Record<string, Tree | undefined>>): MapTree {
  const entries = new Map<string, Entry>()
  for (const [key, value] of Object.entries(values)) if (value) entries.set(key, { key: value.span, value })
  return { kind: 'map', span: short.span, entries, ...(short.replaced && { replaced: short.replaced }) }
}

function reportFailed(kind: typeof badPort, scalar: ScalarTree, failed: Failed, reporter: Reporter): undefined {
  const text = scalarText(scalar)
  const span = failed.start === undefined ? scalar.span : spanInside(scalar, failed.start, failed.end ?? failed.start)
  const variables = scalar.variables ?? []
  const [variable] = variables
  reporter.report(kind, span, {
    text,
    reason: failed.reason,
    hint: failed.hint ?? (variable && `\`${variable.name}\` comes from ${variable.origin}`),
  })
  return undefined
}

/** Converts short forms of ports, including ranges, to mappings. Reports invalid ports. */
export const ports: ToLongForm = (tree, { reporter }) => {
  if (tree.kind !== 'seq') return tree
  const items: Tree[] = []
  let failed = false
  let changed = false
  for (const item of tree.items) {
    if (item.kind !== 'scalar') {
      items.push(item)
      continue
    }
    changed = true
    const parsed = parsePorts(scalarText(item), count => reporter.budget.spend('ports', count, item.span))
    if (!parsed.ok) {
      failed = true
      reportFailed(badPort, item, parsed, reporter)
      continue
    }
    if (items.length + parsed.value.length > MAX_PORTS) {
      reporter.report(tooManyPorts, item.span, { count: items.length + parsed.value.length })
      return undefined
    }
    for (const port of parsed.value)
      items.push(
        record(item, {
          mode: scalarTree(item.span, 'ingress'),
          host_ip: port.hostIp ? scalarTree(item.span, port.hostIp) : undefined,
          target: scalarTree(item.span, port.target),
          published: port.published ? scalarTree(item.span, port.published) : undefined,
          protocol: scalarTree(item.span, port.protocol),
        }),
      )
  }
  if (failed) return undefined
  return changed ? { ...tree, items } : tree
}

/** Converts `SOURCE:TARGET:OPTIONS` to a mapping. Reports invalid mounts and unknown options. */
export const volume: ToLongForm = (tree, { reporter, volumes }) => {
  if (!isText(tree)) return tree
  const parsed = parseVolume(tree.value as string, name => volumes?.entries.has(name) === true)
  if (!parsed.ok) return reportFailed(badVolume, tree, parsed, reporter)
  const short = parsed.value
  for (const option of short.unknownOptions) reporter.report(unknownOption, tree.span, { option })
  const at = (value: string | boolean, range?: readonly [number, number]) =>
    scalarTree(range ? spanInside(tree, range[0], range[1]) : tree.span, value)
  const isBind = short.type === 'bind'
  const { selinux, propagation } = short
  // Keeps bind options on volumes and volume options on binds, as Docker Compose does, where they have no effect.
  const bind =
    isBind || selinux || propagation
      ? record(tree, {
          selinux: selinux ? at(selinux) : undefined,
          propagation: propagation ? at(propagation) : undefined,
          create_host_path: isBind ? at(true) : undefined,
        })
      : undefined
  // Docker Compose adds no `volume` options if the short form has one or two characters.
  const isShort = (tree.value as string).length <= 2
  const named = isShort
    ? undefined
    : !isBind || short.nocopy
      ? record(tree, { nocopy: short.nocopy ? at(true) : undefined })
      : undefined
  return record(tree, {
    type: at(short.type),
    source: short.source === undefined ? undefined : at(short.source, short.sourceAt),
    target: at(short.target, short.targetAt),
    read_only: short.readOnly ? at(true) : undefined,
    bind,
    volume: named,
  })
}

/** Converts a list of services to a mapping that gives each service the default condition. */
export const dependencies: ToLongForm = tree => {
  const required = (span: Span) => ({
    condition: scalarTree(span, 'service_started'),
    required: scalarTree(span, true),
  })
  if (tree.kind === 'seq') {
    const names = tree.items.filter(isText)
    return {
      kind: 'map',
      span: tree.span,
      entries: new Map(
        names.map(name => [name.value as string, { key: name.span, value: record(name, required(name.span)) }]),
      ),
    }
  }
  if (!isMap(tree)) return tree
  return withMembers(tree, required)
}

/** Adds the given members to each mapping among the values of `map`, except members that the value already has. */
function withMembers(map: MapTree, members: (span: Span) => Readonly<Record<string, Tree>>): MapTree {
  let entries: Map<string, Entry> | undefined
  for (const [name, { key: span, value }] of map.entries) {
    if (!isMap(value)) continue
    let result = value
    for (const [key, scalar] of Object.entries(members(value.span)))
      if (!result.entries.has(key)) result = withEntry(result, key, scalar)
    if (result === value) continue
    entries ??= new Map(map.entries)
    entries.set(name, { key: span, value: result })
  }
  return entries ? { ...map, entries } : map
}

/** Converts a list of `NAME=CONTEXT` to a mapping. Reports items without `=`. */
export const contexts: ToLongForm = (tree, { reporter }) => {
  if (tree.kind !== 'seq') return tree
  const entries = new Map<string, Entry>()
  let failed = false
  for (const item of tree.items.filter(isText)) {
    const text = item.value as string
    const at = text.indexOf('=')
    if (at < 0) {
      reporter.report(noEquals, item.span, { text, hint: 'write `NAME=CONTEXT`' })
      failed = true
    } else
      entries.set(text.slice(0, at), {
        key: item.span,
        value: { ...scalarTree(item.span, text.slice(at + 1)), ...(item.variables && { variables: item.variables }) },
      })
  }
  return failed ? undefined : { kind: 'map', span: tree.span, entries }
}

/** Converts a list of `ID=PATH` to a mapping. Reports items without `=`, except `default`. */
export const ssh: ToLongForm = (tree, { reporter }) => {
  if (tree.kind !== 'seq') return tree
  const entries = new Map<string, Entry>()
  let failed = false
  for (const item of tree.items.filter(isText)) {
    const text = item.value as string
    const at = text.indexOf('=')
    if (at >= 0) entries.set(text.slice(0, at), { key: item.span, value: scalarTree(item.span, text.slice(at + 1)) })
    else if (text === 'default') entries.set(text, { key: item.span, value: scalarTree(item.span, null) })
    else {
      reporter.report(noEquals, item.span, { text, hint: 'write `ID=PATH`, or `default`' })
      failed = true
    }
  }
  return failed ? undefined : { kind: 'map', span: tree.span, entries }
}

/** Converts any scalar to text. */
export const text: ToLongForm = tree =>
  tree.kind === 'scalar' && tree.type !== 'string' ? { ...scalarTree(tree.span, scalarText(tree)) } : tree

/** Converts the deprecated form `external: {name: …}` to `external: true` and `name`. */
export const external: ToLongForm = (tree, { reporter }) => {
  if (!isMap(tree)) return tree
  const external = entry(tree, 'external')
  if (!external || !isMap(external.value)) return tree
  const flagged = withEntry(tree, 'external', scalarTree(external.value.span, true), external.key)
  const old = entry(external.value, 'name')
  if (old?.value.kind !== 'scalar') return flagged
  const name = get(tree, 'name')
  if (!name) {
    reporter.report(externalName, old.key, { name: scalarText(old.value) })
    return withEntry(flagged, 'name', old.value, old.key)
  }
  if (name.kind === 'scalar' && scalarText(name) !== scalarText(old.value)) {
    reporter.report(externalNames, old.value.span, { name: scalarText(name) }, [
      { span: name.span, message: 'the other name' },
    ])
    return undefined
  }
  return flagged
}

/** Converts text to a list. Drops items that are empty because a variable is not set. */
export const nameServers: ToLongForm = (tree, context) => {
  const items = listOfOne(tree, context)
  return items?.kind === 'seq'
    ? { ...items, items: items.items.filter(item => !isNull(item) && !(isText(item) && item.value === '')) }
    : items
}
