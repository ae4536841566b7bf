import { isAbsolute } from 'node:path/posix'
import type { CompilerHost } from '../../host.ts'
import {
  type Entry,
  get,
  isMap,
  isNull,
  isSeq,
  type MapTree,
  type ScalarTree,
  scalarTree,
  type Tree,
  withEntry,
  withoutKeys,
} from '../../text/tree.ts'
import { scalarText } from '../../text/tree-text.ts'
import { cleanPath } from '../../values/clean-path.ts'
import { defaultDockerfile } from '../build-files.ts'
import type { Keys } from '../keys/key.ts'
import { containerKeys } from '../keys/service.ts'
import { mergeAt } from './compose-files/merge.ts'
import type { LoadState } from './load-state.ts'
import { mapSection } from './map-section.ts'
import { isNameOnly, pairOfName, valueOfName } from './named-values.ts'
import type { VariableScope } from './variables.ts'

/** The normalized model, with a record of what was implied. */
export interface Normalized {
  readonly model: MapTree
  /** The implied dependencies, in the form `web db`. */
  readonly implicitDependencies: ReadonlySet<string>
  /** Resources whose `name` a file sets, in the form `volumes.data`. */
  readonly namedResources: ReadonlySet<string>
}

/**
 * Adds the settings that Docker Compose implies: the default network, dependencies from links and shared namespaces,
 * values of variables that are listed without a value, names of resources, settings of hooks.
 */
export function normalize(model: MapTree, projectName: string, variables: VariableScope, state: LoadState): Normalized {
  const implicitDependencies = new Set<string>()
  let usesDefault = false
  let result = mapSection(model, 'services', (service, name) => {
    if (!isMap(service)) return service
    let changed = joinDefaultNetwork(service)
    const networks = get(changed, 'networks')
    if (
      isMap(networks) &&
      networks.entries.has('default') &&
      !changed.entries.has('provider') &&
      !hasNetworkMode(changed)
    )
      usesDefault = true
    changed = replace(changed, 'pull_policy', policy =>
      policy.kind === 'scalar' && policy.value === 'if_not_present' ? { ...policy, value: 'missing' } : policy,
    )
    changed = replace(changed, 'build', build => completeBuild(build, variables, state.host))
    changed = replace(changed, 'environment', environment => addVariableValues(environment, variables, true))
    changed = replace(changed, 'volumes', volumes =>
      isSeq(volumes) ? { ...volumes, items: volumes.items.map(cleanTarget) } : volumes,
    )
    changed = replace(changed, 'deploy', deploy => withReplicas(deploy, get(service, 'scale')))
    changed = addDependencies(changed, name, implicitDependencies)
    return completeHooks(changed, state)
  })
  if (usesDefault && !isMap(get(result, 'networks', 'default'))) result = addDefaultNetwork(result)
  const namedResources = new Set<string>()
  for (const section of ['networks', 'volumes', 'secrets', 'configs'])
    result = mapSection(result, section, (resource, key) => {
      const map: MapTree = isMap(resource) ? resource : { kind: 'map', span: resource.span, entries: new Map() }
      const name = get(map, 'name')
      if (name && !isNull(name)) {
        // `config` prints Compose's default name, so a name that equals the default does not count as set.
        const isImplied = name.kind === 'scalar' && name.value === `${projectName}_${key}`
        if (!isImplied) namedResources.add(`${section}.${key}`)
        return map
      }
      const external = get(map, 'external')
      const isExternal = external?.kind === 'scalar' && external.value === true
      return withEntry(map, 'name', scalarTree(map.span, isExternal ? key : `${projectName}_${key}`))
    })
  return { model: result, implicitDependencies, namedResources }
}

function replace(map: MapTree, key: string, change: (value: Tree) => Tree): MapTree {
  const entry = map.entries.get(key)
  if (!entry) return map
  const value = change(entry.value)
  return value === entry.value ? map : withEntry(map, key, value)
}

/** True if a service has a `network_mode`. An empty value counts as absent, because `config` does not print it. */
const hasNetworkMode = (service: MapTree): boolean => {
  const mode = get(service, 'network_mode')
  return mode !== undefined && !(mode.kind === 'scalar' && mode.value === '')
}

function joinDefaultNetwork(service: MapTree): MapTree {
  if (service.entries.has('provider') || hasNetworkMode(service)) return service
  const networks = get(service, 'networks')
  if (networks && !(isMap(networks) && networks.entries.size === 0)) return service
  const span = networks?.span ?? service.span
  return withEntry(service, 'networks', {
    kind: 'map',
    span,
    entries: new Map([['default', { key: span, value: scalarTree(span, null) }]]),
  })
}

function addDefaultNetwork(model: MapTree): MapTree {
  const networks = get(model, 'networks')
  const span = networks?.span ?? model.span
  const map: MapTree = isMap(networks) ? networks : { kind: 'map', span, entries: new Map() }
  return map.entries.has('default')
    ? model
    : withEntry(model, 'networks', withEntry(map, 'default', scalarTree(span, null)))
}

/** Sets the number of replicas to `scale` if `deploy` has no `replicas`. */
function withReplicas(deploy: Tree, scale: Tree | undefined): Tree {
  if (!isMap(deploy) || !scale || isNull(scale) || deploy.entries.has('replicas')) return deploy
  return withEntry(deploy, 'replicas', scale, scale.span)
}

function completeBuild(build: Tree, variables: VariableScope, host: CompilerHost): Tree {
  if (!isMap(build)) return build
  let result = build
  if (!result.entries.has('context')) result = withEntry(result, 'context', scalarTree(build.span, '.'))
  if (!result.entries.has('dockerfile') && !result.entries.has('dockerfile_inline'))
    result = withEntry(result, 'dockerfile', scalarTree(build.span, dockerfileIn(get(build, 'context'), host)))
  return replace(result, 'args', args => addVariableValues(args, variables, false))
}

function dockerfileIn(context: Tree | undefined, host: CompilerHost): string {
  const folder = context?.kind === 'scalar' ? String(context.value) : ''
  return isAbsolute(folder) ? defaultDockerfile(folder, host) : 'Dockerfile'
}

/**
 * Sets names without a value to the value of the project's variable. If the variable is not set, the name stays without
 * a value if `keep` is true, and is removed otherwise.
 */
function addVariableValues(tree: Tree, variables: VariableScope, keep: boolean): Tree {
  if (isMap(tree)) {
    const entries = [...tree.entries].flatMap(([name, { key, value }]) => {
      const found = isNameOnly(value) ? valueOfName(name, key, variables) : undefined
      return found || keep || !isNull(value) ? [[name, { key, value: found ?? value }] as const] : []
    })
    return { ...tree, entries: new Map(entries) }
  }
  if (!isSeq(tree)) return tree
  const items = tree.items.flatMap((item): Tree[] => {
    if (item.kind !== 'scalar') return [item]
    const found = pairOfName(item, variables)
    return found || keep || scalarText(item).includes('=') ? [found ?? item] : []
  })
  return { ...tree, items }
}

function cleanTarget(mount: Tree): Tree {
  const target = get(mount, 'target')
  if (!isMap(mount) || target?.kind !== 'scalar' || typeof target.value !== 'string') return mount
  const clean = cleanPath(target.value)
  return clean === target.value ? mount : withEntry(mount, 'target', { ...target, value: clean })
}

function addDependencies(service: MapTree, name: string, added: Set<string>): MapTree {
  const before = get(service, 'depends_on')
  const entries = new Map<string, Entry>(isMap(before) ? before.entries : [])
  const add = (dependency: string, restart: boolean, from: Tree) => {
    const written = entries.get(dependency)?.value
    // `devctl config` prints implied dependencies, so a written dependency that equals the implied one counts as
    // implied.
    if (!written || isImplied(written, restart)) added.add(`${name} ${dependency}`)
    if (written) return
    const { span } = from
    const value = (of: string | boolean) => ({ key: span, value: scalarTree(span, of) })
    entries.set(dependency, {
      key: span,
      value: {
        kind: 'map',
        span,
        entries: new Map([
          ['condition', value('service_started')],
          ['restart', value(restart)],
          ['required', value(true)],
        ]),
      },
    })
  }
  for (const link of texts(get(service, 'links'))) {
    const parts = scalarText(link).split(':')
    add(parts.length === 2 ? parts[0]! : scalarText(link), true, link)
  }
  for (const key of ['network_mode', 'ipc', 'pid', 'uts', 'cgroup']) {
    const shared = get(service, key)
    if (shared?.kind === 'scalar' && typeof shared.value === 'string' && shared.value.startsWith('service:'))
      add(shared.value.slice('service:'.length), true, shared)
  }
  for (const from of texts(get(service, 'volumes_from'))) {
    const source = scalarText(from)
    if (!source.startsWith('container:')) add(source.split(':')[0]!, false, from)
  }
  if (entries.size === 0 || entries.size === (isMap(before) ? before.entries.size : 0)) return service
  return withEntry(service, 'depends_on', { kind: 'map', span: before?.span ?? service.span, entries })
}

/** True if a dependency equals the dependency that a link, a shared namespace or `volumes_from` would imply. */
const isImplied = (dependency: Tree, restart: boolean): boolean =>
  isMap(dependency) &&
  scalarOf(dependency, 'condition') === 'service_started' &&
  scalarOf(dependency, 'required') === true &&
  (scalarOf(dependency, 'restart') ?? false) === restart

const scalarOf = (tree: Tree, key: string) => {
  const found = get(tree, key)
  return found?.kind === 'scalar' ? found.value : undefined
}

const texts = (tree: Tree | undefined): readonly ScalarTree[] =>
  isSeq(tree) ? tree.items.filter((item): item is ScalarTree => item.kind === 'scalar') : []

/** The keys that a `pre_start` hook inherits from its service. */
const INHERITED = new Set(
  Object.entries(containerKeys as Keys)
    .filter(([, key]) => !key.notInherited)
    .map(([name]) => name),
)

function completeHooks(service: MapTree, state: LoadState): MapTree {
  return replace(service, 'pre_start', hooks => {
    if (!isSeq(hooks) || hooks.items.length === 0) return hooks
    const base = withoutKeys(service, ...[...service.entries.keys()].filter(key => !INHERITED.has(key)))
    return { ...hooks, items: hooks.items.map(hook => mergeAt(['services', 'hook'], base, hook, state.reporter)) }
  })
}
