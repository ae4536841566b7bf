import { normalize } from 'node:path/posix'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
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
import type { Failed } from '../../values/parsed.ts'
import { parsePorts } from '../../values/port.ts'
import { parseVolume } from '../../values/volume.ts'
import { tooManyPorts } from '../read/ports.ts'
import { scalarText } from './tree-text.ts'

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
/** Ports that the ranges of a service may come to: twice as many as there are of one protocol. */
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

/** What canonical() has to say about an entry of `services` and the like: undefined where it cannot be used. */
type Rewrite = (tree: Tree, context: Context) => Tree | undefined

interface Context {
  readonly reporter: Reporter
  /** Names under top-level `volumes`: a source of one letter is a volume only when it is declared. */
  readonly volumes: MapTree | undefined
}

/**
 * Turns short forms into long ones (compose-spec.md 1.12), and leaves long ones as they are, so that it can be applied again after each file.
 * Gives the names of what could not be read, as `volumes.data`, and the keys of services: those are left out. `whole` is what the model is a part of.
 */
export function canonical(
  model: MapTree,
  reporter: Reporter,
  whole: MapTree = model,
): {
  readonly model: MapTree
  readonly broken: readonly string[]
  readonly lost: ReadonlyMap<string, readonly string[]>
} {
  const volumes = get(whole, 'volumes')
  const context: Context = { reporter, volumes: isMap(volumes) ? volumes : undefined }
  const broken: string[] = []
  const section = (map: MapTree, name: string, rewrite: (value: Tree, key: string) => Tree | undefined): MapTree => {
    const entries = get(map, name)
    if (!isMap(entries)) return map
    const rewritten = mapEntries(entries, rewrite)
    return rewritten === entries ? map : withEntry(map, name, rewritten)
  }
  const lost = new Map<string, readonly string[]>()
  let result = section(model, 'services', (service, name) => {
    if (!isMap(service)) return service
    const { tree, failed } = attributes(service, SERVICE, context)
    if (failed.length > 0) lost.set(name, failed)
    return tree
  })
  for (const name of ['networks', 'volumes', 'secrets', 'configs'])
    result = section(result, name, (resource, key) => {
      const long = maybeExternal(resource, context)
      if (!long) broken.push(`${name}.${key}`)
      return long
    })
  return { model: result, broken, lost }
}

/** Gives the map with every value rewritten; entries without a result are left out; the same map when nothing changes. */
function mapEntries(map: MapTree, rewrite: (value: Tree, key: string) => Tree | undefined): MapTree {
  let entries: Map<string, Entry> | undefined
  for (const [key, { key: span, value }] of map.entries) {
    const result = rewrite(value, key)
    if (result === value) continue
    entries ??= new Map(map.entries)
    if (result) entries.set(key, { key: span, value: result })
    else entries.delete(key)
  }
  return entries ? { ...map, entries } : map
}

/** Rewrites the attributes that have a rule; those that fail are left out and named. */
function attributes(
  tree: MapTree,
  rules: Readonly<Record<string, Rewrite>>,
  context: Context,
): { readonly tree: MapTree; readonly failed: readonly string[] } {
  let entries: Map<string, Entry> | undefined
  const failed: string[] = []
  for (const [key, { key: span, value }] of tree.entries) {
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined
    if (!rule) continue
    const result = rule(value, context)
    if (result === value) continue
    entries ??= new Map(tree.entries)
    if (result) entries.set(key, { key: span, value: result })
    else {
      entries.delete(key)
      failed.push(key)
    }
  }
  return { tree: entries ? { ...tree, entries } : tree, failed }
}

/** A rewrite of a mapping by its attributes, which fails when one of them does. */
const whole =
  (rules: Readonly<Record<string, Rewrite>>): Rewrite =>
  (tree, context) => {
    if (!isMap(tree)) return tree
    const result = attributes(tree, rules, context)
    return result.failed.length > 0 ? undefined : result.tree
  }

const each =
  (rewrite: Rewrite): Rewrite =>
  (tree, context) => {
    if (tree.kind === 'map') return mapEntriesOrFail(tree, rewrite, context)
    if (tree.kind !== 'seq') return tree
    const items = tree.items.map(item => rewrite(item, context))
    if (items.some(item => item === undefined)) return undefined
    return items.every((item, index) => item === tree.items[index]) ? tree : { ...tree, items: items as Tree[] } // none is undefined
  }

function mapEntriesOrFail(map: MapTree, rewrite: Rewrite, context: Context): MapTree | undefined {
  const result = mapEntries(map, value => rewrite(value, context))
  return result.entries.size === map.entries.size ? result : undefined
}

const isText = (tree: Tree): tree is ScalarTree => tree.kind === 'scalar' && tree.type === 'string'

const list: Rewrite = tree => (isText(tree) ? { kind: 'seq', span: tree.span, items: [tree] } : tree)

const namesToMap: Rewrite = tree =>
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

const underKey =
  (key: string): Rewrite =>
  tree =>
    isText(tree) ? { kind: 'map', span: tree.span, entries: new Map([[key, { key: tree.span, value: tree }]]) } : tree

const envFile: Rewrite = tree => {
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

const gpus: Rewrite = tree =>
  isText(tree) ? { kind: 'seq', span: tree.span, items: [record(tree, { count: scalarTree(tree.span, 'all') })] } : tree

const device: Rewrite = (tree, { reporter }) => {
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

/** A mapping made from a short form; its parts say where they were written. */
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

const ports: Rewrite = (tree, { reporter }) => {
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

const volume: Rewrite = (tree, { reporter, volumes }) => {
  if (!isText(tree)) return tree
  const parsed = parseVolume(tree.value as string, name => volumes?.entries.has(name) === true)
  if (!parsed.ok) return reportFailed(badVolume, tree, parsed, reporter)
  const short = parsed.value
  for (const option of short.unknownOptions) reporter.report(unknownOption, tree.span, { option })
  const at = (value: string | boolean, range?: readonly [number, number]) =>
    scalarTree(range ? spanInside(tree, range[0], range[1]) : tree.span, value)
  const isBind = short.type === 'bind'
  const { selinux, propagation } = short
  // The options of one kind of mount are kept at the other, as the reference does; they mean nothing there.
  const bind =
    isBind || selinux || propagation
      ? record(tree, {
          selinux: selinux ? at(selinux) : undefined,
          propagation: propagation ? at(propagation) : undefined,
          create_host_path: isBind ? at(true) : undefined,
        })
      : undefined
  // Text of one or two characters goes another way in the reference, with nothing said about the volume.
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

const dependsOn: Rewrite = tree => {
  const required = (span: Tree['span']) => ({
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
  return mapEntries(tree, value => {
    if (!isMap(value)) return value
    let result = value
    for (const [key, scalar] of Object.entries(required(value.span)))
      if (!result.entries.has(key)) result = withEntry(result, key, scalar)
    return result
  })
}

const keyValue: Rewrite = (tree, { reporter }) => {
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

const ssh: Rewrite = (tree, { reporter }) => {
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

const asText: Rewrite = tree =>
  tree.kind === 'scalar' && tree.type !== 'string' ? { ...scalarTree(tree.span, scalarText(tree)) } : tree

const BUILD: Readonly<Record<string, Rewrite>> = {
  additional_contexts: keyValue,
  provenance: asText,
  sbom: asText,
  secrets: each(underKey('source')),
  ssh,
}

const CONTAINER: Readonly<Record<string, Rewrite>> = {
  configs: each(underKey('source')),
  devices: each(device),
  dns: (tree, context) => {
    const items = list(tree, context)
    // An entry that a variable left empty is no name server.
    return items?.kind === 'seq'
      ? { ...items, items: items.items.filter(item => !isNull(item) && !(isText(item) && item.value === '')) }
      : items
  },
  env_file: envFile,
  gpus,
  label_file: list,
  models: namesToMap,
  networks: namesToMap,
  secrets: each(underKey('source')),
  volumes: each(volume),
}

const SERVICE: Readonly<Record<string, Rewrite>> = {
  ...CONTAINER,
  build: (tree, context) => {
    const map = underKey('context')(tree, context)
    return map && whole(BUILD)(map, context)
  },
  depends_on: dependsOn,
  develop: whole({ watch: each(whole({ ignore: list, include: list })) }),
  extends: underKey('service'),
  ports,
  pre_start: each(whole(CONTAINER)),
}

const maybeExternal: Rewrite = (tree, { reporter }) => {
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

/** A cleaned absolute or relative path, as Go's path.Clean gives it. */
export function cleanPath(path: string): string {
  if (path === '') return '.'
  const clean = normalize(path)
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean
}
