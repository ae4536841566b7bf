import type { YamlEdit } from '../../adapters/files/yaml-edit.ts'
import { scalars } from '../../compiler/compose/read/tree-values.ts'
import type { Reporter } from '../../compiler/diagnostics/reporter.ts'
import type { Span } from '../../compiler/text/source.ts'
import { get, isMap, isScalar, type MapTree, type Tree } from '../../compiler/text/tree.ts'
import { scalarText } from '../../compiler/text/tree-text.ts'
import { notCarriedOver } from './notes.ts'

/** A label of a service in a Compose file, from `labels` or `deploy.labels`. */
export interface ServiceLabel {
  readonly name: string
  readonly value: string
  /** False if the value is a list or a mapping; `value` is then empty. */
  readonly isText: boolean
  readonly span: Span
}

/** A service with its labels, as written. */
export interface LabelledService {
  readonly name: string
  readonly tree: MapTree
  readonly labels: readonly ServiceLabel[]
}

/** Returns the services of a Compose file that have labels. */
export function labelledServices(model: MapTree): readonly LabelledService[] {
  const services = get(model, 'services')
  if (!isMap(services)) return []
  return [...services.entries].flatMap(([name, { value: tree }]) => {
    if (!isMap(tree)) return []
    const labels = [...labelsIn(get(tree, 'labels')), ...labelsIn(get(tree, 'deploy', 'labels'))]
    return labels.length > 0 ? [{ name, tree, labels }] : []
  })
}

function labelsIn(tree: Tree | undefined): readonly ServiceLabel[] {
  if (isMap(tree))
    return [...tree.entries].map(([name, { key, value }]) => ({
      name,
      value: isScalar(value) ? scalarText(value) : '',
      isText: isScalar(value),
      span: key,
    }))
  return scalars(tree).map(({ value, span }) => {
    const text = String(value)
    const at = text.indexOf('=')
    return { name: at < 0 ? text : text.slice(0, at), value: at < 0 ? '' : text.slice(at + 1), isText: true, span }
  })
}

/** Collects the edits of a Compose file. A key that exists stays as it is. */
export class ComposeEdits {
  readonly #model: MapTree
  readonly #reporter: Reporter
  readonly #edits: YamlEdit[] = []
  /**
   * Keys of the rules that `endpoints` already contains or that were added. A key consists of the service, the path and
   * the host.
   */
  readonly #rules = new Set<string>()

  constructor(model: MapTree, reporter: Reporter) {
    this.#model = model
    this.#reporter = reporter
    for (const rule of rulesIn(get(model, 'endpoints')))
      this.#rules.add(keyOf(textAt(rule, 'service'), textAt(rule, 'path'), textAt(rule, 'host')))
  }

  get edits(): readonly YamlEdit[] {
    return this.#edits
  }

  /** Reports a label that is not carried over. */
  lose({ name, span }: ServiceLabel, why: string, hint?: string): undefined {
    this.#reporter.report(notCarriedOver, span, { what: name, why, hint })
  }

  /** Sets a key unless the key exists. If it exists with another value, reports the label. */
  set(label: ServiceLabel, path: readonly string[], value: string | number | boolean): undefined {
    const there = get(this.#model, ...path)
    const known = this.#edits.find(edit => edit.path.join('\0') === path.join('\0'))
    if (known && 'value' in known) {
      if (known.value !== value) this.lose(label, `\`${path.join('.')}\` gets another value from another label`)
    } else if (!there) this.#edits.push({ path, value })
    else if (!isScalar(there) || String(there.value) !== String(value))
      this.lose(label, `the file already has \`${path.join('.')}\``)
  }

  /** Replaces a value at a path. */
  replace(edit: YamlEdit): undefined {
    this.#edits.push(edit)
  }

  /**
   * Adds a rule to `endpoints`, in the notation that the file already uses. Does nothing if a rule for the same
   * service, path and host exists.
   */
  addRule(
    service: string,
    rule: {
      readonly path: string
      readonly port: number
      readonly host?: string | undefined
      readonly secret?: string | undefined
    },
  ): undefined {
    const { path, port, host, secret } = rule
    const key = keyOf(service, path, host)
    if (this.#rules.has(key)) return
    this.#rules.add(key)
    const endpoints = get(this.#model, 'endpoints')
    const named = get(endpoints, service)
    const at = !endpoints
      ? [service]
      : endpoints.kind === 'seq'
        ? []
        : get(endpoints, 'rules')
          ? ['rules']
          : get(named, 'rules')
            ? [service, 'rules']
            : [service]
    const item = {
      path,
      service,
      port,
      ...(host !== undefined && { host }),
      ...(host !== undefined && secret !== undefined && { tls: { secret } }),
    }
    this.#edits.push({ path: ['endpoints', ...at], item })
  }
}

const keyOf = (service: string, path: string, host: string | undefined): string => `${service} ${path} ${host || ''}`

function textAt(tree: Tree, key: string): string {
  const value = get(tree, key)
  return isScalar(value) ? scalarText(value) : ''
}

/** Yields the rules of all notations of `endpoints`. */
function* rulesIn(tree: Tree | undefined): Generator<Tree> {
  if (tree?.kind === 'seq') yield* tree.items
  else if (isMap(tree)) for (const { value } of tree.entries.values()) yield* rulesIn(value)
}

/** Port of a service in a Compose file. */
export interface WrittenPort {
  /** Index in `ports`; undefined for a port of `expose`. */
  readonly index?: number
  /** Container port; undefined if it cannot be read, such as a range. */
  readonly target: number | undefined
  readonly published?: string
  readonly protocol?: string
  readonly hostIp?: string
  /** True if the port is written as a mapping. */
  readonly isLong: boolean
  readonly hasExpose: boolean
}

/** Returns the ports of a service, those of `expose` last. */
export function portsOf(service: MapTree): readonly WrittenPort[] {
  const ports = get(service, 'ports')
  const listed = ports?.kind === 'seq' ? ports.items.map((item, index) => portOf(item, index)) : []
  const exposed = scalars(service, 'expose').map(
    ({ value }): WrittenPort => ({
      target: numberOf(String(value).replace(/\/\w+$/, '')),
      isLong: false,
      hasExpose: false,
    }),
  )
  return [...listed, ...exposed]
}

function portOf(tree: Tree, index: number): WrittenPort {
  if (isMap(tree)) {
    const published = textAt(tree, 'published')
    const hostIp = textAt(tree, 'host_ip')
    return {
      index,
      target: numberOf(textAt(tree, 'target')),
      ...(published !== '' && { published }),
      ...(hostIp !== '' && { hostIp }),
      isLong: true,
      hasExpose: tree.entries.has('x-expose'),
    }
  }
  const text = isScalar(tree) ? String(tree.value) : ''
  const [, hostIp, published, target, protocol] =
    /^(?:(?:([\d.]+|\[[^\]]*\]):)?(\d*):)?(\d+)(?:\/(\w+))?$/.exec(text) ?? []
  return {
    index,
    target: numberOf(target ?? ''),
    ...(published && { published }),
    ...(protocol && { protocol }),
    ...(hostIp && { hostIp }),
    isLong: false,
    hasExpose: false,
  }
}

const numberOf = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined)
