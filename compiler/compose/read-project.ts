import type { Reporter } from '../diagnostics/reporter.ts'
import type { CompilerHost } from '../host.ts'
import type { SecretRules } from '../options.ts'
import type { Span } from '../text/source.ts'
import { isMap, type MapTree } from '../text/tree.ts'
import { DEFAULT_PLATFORM } from '../values/images/platform.ts'
import { needsValues } from '../values/secrets/secret-backends.ts'
import type { Loaded } from './load/loaded.ts'
import type { Project, Service } from './project.ts'
import { readObjects } from './read/kubernetes/objects.ts'
import { readModels } from './read/models.ts'
import { readEndpoints } from './read/network/endpoints.ts'
import { readNetworks } from './read/network/top-level-networks.ts'
import { readFileObjects } from './read/storage/file-objects.ts'
import { readVolumes } from './read/storage/top-level-volumes.ts'
import { entries } from './read/tree-values.ts'
import { readService } from './read-service.ts'
import { usedEntries } from './used-entries.ts'

/**
 * Reads the canonical tree into typed values. The loader has already checked the shape and the references of the tree.
 * Reports unreadable files, and values that are not allowed by the meaning of their field, by the dialect or by
 * Kubernetes. Values that `rules` take from Secrets need not be set.
 */
export function readProject(loaded: Loaded, host: CompilerHost, reporter: Reporter, rules?: SecretRules): Project {
  const models = readModels(loaded.tree, reporter)
  const isFromSecret = (path: string) => rules?.values.has(path) ?? false
  const read = (name: string, span: Span, tree: MapTree): Service =>
    readService(tree, {
      reporter,
      service: name,
      span,
      directory: loaded.directory,
      defaultPlatform: host.environment.get(DEFAULT_PLATFORM) || undefined,
      baseImages: loaded.baseImages(name),
      implicitDependencies: loaded.implicitDependencies,
      models,
      isFromSecret: variable => isFromSecret(`services.${name}.environment.${variable}`),
    })
  const services = new Map<string, Service>()
  const incomplete: Service[] = []
  for (const [name, { key, value }] of entries(loaded.tree, 'services')) {
    reporter.budget.checkTime(key)
    if (!isMap(value)) continue
    const service = read(name, key, value)
    if (loaded.incompleteServices.has(name)) incomplete.push(service)
    else services.set(name, service)
  }
  const contextServices = new Map<string, Service>()
  for (const [name, { key, value }] of loaded.contextServices)
    if (isMap(value)) contextServices.set(name, read(name, key, onlyImage(value)))
  const all = [...services.values(), ...incomplete]
  const absentServices = new Set([...loaded.absentServices, ...loaded.incompleteServices.keys()])
  const known = { services: new Set(services.keys()), absent: absentServices, isIncomplete: loaded.isIncomplete }
  // If the cluster already has a secret, its content is read only if the backend encrypts values.
  const secrets = new Set(
    [...usedBy(all, 'secrets')].filter(key => needsValues(rules?.backend) || !isFromSecret(`secrets.${key}`)),
  )
  return {
    name: loaded.name,
    ...(loaded.nameSpan && { nameSpan: loaded.nameSpan }),
    ...(loaded.isNamed && { isNamed: true as const }),
    directory: loaded.directory,
    services,
    contextServices,
    absentServices,
    incompleteServices: incomplete.filter(({ name }) => areVolumesKnown(loaded.incompleteServices.get(name)!)),
    secretPlaces: loaded.secrets,
    networks: readNetworks(loaded),
    volumes: readVolumes(loaded),
    secrets: readFileObjects('secrets', secrets, loaded, host, reporter),
    configs: readFileObjects('configs', usedBy(all, 'configs'), loaded, host, reporter),
    endpoints: readEndpoints(loaded.tree, known, reporter),
    objects: readObjects(loaded.tree, reporter),
    tree: loaded.tree,
    documents: loaded.documents,
    ...(loaded.foreignKeys && { foreignKeys: loaded.foreignKeys }),
  }
}

/** Returns true if none of the keys that decide how a service mounts host paths is in error. */
const areVolumesKnown = (invalid: ReadonlySet<string>): boolean =>
  !['*', 'volumes', 'build', 'image'].some(key => invalid.has(key))

/** Returns a service with only the keys that concern its image. */
const onlyImage = (service: MapTree): MapTree => ({
  ...service,
  entries: new Map([...service.entries].filter(([key]) => ['image', 'build', 'platform'].includes(key))),
})

/** Returns the configs or secrets that services mount. */
function usedBy(services: readonly Service[], kind: 'configs' | 'secrets'): ReadonlySet<string> {
  return new Set(services.flatMap(service => usedEntries(service, kind)))
}
