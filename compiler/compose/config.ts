import { get, isMap, type MapTree, type Tree, withEntry, withoutKeys } from '../text/tree.ts'
import { SECTIONS, SETTINGS } from './keys/sections.ts'
import { servicesAsJobs } from './load/jobs.ts'
import { withoutUnused } from './load/load.ts'
import type { Loaded } from './load/loaded.ts'
import { mapSection } from './load/map-section.ts'

/** Options of `devctl config`. */
export interface ConfigOptions {
  /** True to also print the resources that no service uses. */
  readonly allResources?: boolean
  /**
   * Name of the environment, printed as `name`. If the name of the project were printed, loading the output again would
   * produce another environment.
   */
  readonly environmentName?: string | undefined
}

/**
 * Returns the loaded model as plain JSON, as `docker compose config --format json` prints it: keys sorted, every `$`
 * doubled so that the output can be loaded again, no `x-*` keys and no empty sections.
 */
export function printConfig(loaded: Loaded, options: ConfigOptions = {}): Readonly<Record<string, unknown>> {
  const used = options.allResources ? loaded.tree : withoutUnused(loaded.tree)
  const tree = servicesAsJobs(withoutAbsent(used, loaded.absentServices))
  const name = options.environmentName ?? loaded.name
  const printed: Record<string, unknown> = { name: escapeDollars(name) }
  for (const key of [...tree.entries.keys()].sort()) {
    const value = tree.entries.get(key)!.value
    if (!SECTIONS.has(key) && !SETTINGS.has(key)) continue
    if (key !== 'services' && SECTIONS.has(key) && isMap(value) && value.entries.size === 0) continue
    printed[key] = FILE_OBJECTS.has(key) && isMap(value) ? printFileObjects(value) : plain(value)
    if (key === 'services' || key === 'jobs')
      // The entries of `services` are mappings.
      for (const service of Object.values(printed[key] as Record<string, Json>)) printRemovedSettings(service)
    if (name !== loaded.name && NAMED.has(key) && isMap(value))
      // The entries of these sections are mappings.
      renameResources(printed[key] as Record<string, Record<string, unknown>>, key, loaded, name)
  }
  if (!('services' in printed)) printed['services'] = {}
  Object.assign(printed['services'] as object, imagesOfOthers(loaded))
  const endpoints = withoutRulesTo(loaded.absentServices, printed['endpoints'])
  if (endpoints === undefined) delete printed['endpoints']
  else printed['endpoints'] = endpoints
  return printed
}

/**
 * Returns the inactive services whose images other builds use, with only the keys that concern the image. A service
 * without profiles gets the profile `build`, so that it stays inactive.
 */
const imagesOfOthers = ({ contextServices }: Loaded): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    [...contextServices].map(([name, { value }]) => {
      const { build, image, platform, profiles = ['build'] } = plain(value) as Json // a service is a mapping
      const kept = Object.entries({ build, image, platform, profiles }).filter(([, one]) => one !== undefined)
      return [name, Object.fromEntries(kept)]
    }),
  )

/**
 * Returns `endpoints` in any notation, without the rules of absent services; undefined if no rule is left. The printed
 * model lacks the absent services, so rules for them would be errors when the model is loaded again.
 */
function withoutRulesTo(absent: ReadonlySet<string>, endpoints: unknown): unknown {
  if (Array.isArray(endpoints)) {
    const rules = endpoints.filter(rule => !absent.has(rule?.service))
    return rules.length > 0 || endpoints.length === 0 ? rules : undefined
  }
  if (typeof endpoints !== 'object' || endpoints === null) return endpoints
  const kept = Object.entries(endpoints).flatMap(([key, value]) => {
    const left = withoutRulesTo(absent, value)
    return left === undefined ? [] : [[key, left] as const]
  })
  const isEmpty = kept.length === 0 || ('rules' in endpoints && !kept.some(([key]) => key === 'rules'))
  return isEmpty && Object.keys(endpoints).length > 0 ? undefined : Object.fromEntries(kept)
}

/** Removes optional dependencies on absent services, because the printed model does not define them. */
const withoutAbsent = (tree: MapTree, absent: ReadonlySet<string>): MapTree =>
  mapSection(tree, 'services', service => {
    const dependencies = get(service, 'depends_on')
    if (!isMap(service) || !isMap(dependencies)) return service
    const kept = withoutKeys(dependencies, ...[...dependencies.entries.keys()].filter(name => absent.has(name)))
    if (kept.entries.size === dependencies.entries.size) return service
    return kept.entries.size === 0 ? withoutKeys(service, 'depends_on') : withEntry(service, 'depends_on', kept)
  })

/**
 * Replaces the name of the project with `name` in the default names of resources, which have the form `PROJECT_KEY`.
 */
function renameResources(
  resources: Record<string, Record<string, unknown>>,
  section: string,
  { name: before, namedResources }: Loaded,
  name: string,
): void {
  for (const [key, resource] of Object.entries(resources))
    if (!namedResources.has(`${section}.${key}`) && resource['name'] === `${before}_${key}`)
      resource['name'] = `${name}_${key}`
}

type Json = Record<string, unknown>

/**
 * Adds to each `pre_start` hook the clearing value (`privileged: false`) of every setting that the service has and the
 * hook lacks. Otherwise the hook would inherit the setting when the output is loaded again.
 */
function printRemovedSettings(service: Json): void {
  const hooks = service['pre_start']
  if (!Array.isArray(hooks)) return
  const dropped = Object.entries(REMOVING_VALUES).filter(([key]) => service[key] !== undefined)
  service['pre_start'] = hooks.map((hook: Json) => {
    const all = { ...Object.fromEntries(dropped), ...hook }
    return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** Values that clear inherited settings in a hook, by key. */
const REMOVING_VALUES: Readonly<Json> = {
  oom_kill_disable: false,
  privileged: false,
  read_only: false,
  use_api_socket: false,
  user: '',
  working_dir: '',
}

const NAMED = new Set(['networks', 'volumes', 'secrets', 'configs'])
const FILE_OBJECTS = new Set(['secrets', 'configs'])
const CONTENTS = ['file', 'content', 'environment', 'external', 'driver', 'template_driver']

/** Returns configs or secrets as plain JSON, without contents that come from variables. */
function printFileObjects(objects: MapTree): unknown {
  // `decodeModel` returns mappings of mappings.
  const printed = plain(objects) as Record<string, Record<string, unknown>>
  for (const object of Object.values(printed)) {
    if (object['environment'] !== undefined) delete object['content']
    // Loading drops empty values, but an empty `content` is a valid content and must be printed.
    if (!CONTENTS.some(key => object[key] !== undefined)) object['content'] = ''
  }
  return printed
}

function plain(tree: Tree): unknown {
  switch (tree.kind) {
    case 'scalar':
      return typeof tree.value === 'string'
        ? escapeDollars(tree.value)
        : typeof tree.value === 'bigint'
          ? Number(tree.value)
          : tree.value
    case 'seq':
      return tree.items.map(plain)
    case 'map': {
      const printed: Record<string, unknown> = {}
      for (const key of [...tree.entries.keys()].sort()) {
        const value = plain(tree.entries.get(key)!.value)
        // An assignment to `__proto__` would set the prototype.
        if (key === '__proto__')
          Object.defineProperty(printed, key, { value, enumerable: true, writable: true, configurable: true })
        else printed[key] = value
      }
      return printed
    }
  }
}

const escapeDollars = (text: string): string => (text.includes('$') ? text.replaceAll('$', '$$$$') : text)
