import { get } from '../syntax/tree.ts'
import { portNumber } from './lifecycle.ts'
import { topLevelNetwork } from './network.ts'
import { cli, mapped, none } from './row.ts'
import { jobs, service } from './service.ts'
import {
  anyOf,
  either,
  list,
  object,
  orNull,
  record,
  resourceName,
  type Shape,
  strictInteger,
  text,
  textOrList,
} from './shape.ts'
import { topLevelConfig, topLevelSecret, topLevelVolume } from './storage.ts'

const resources = (shape: Shape, becomes: string, called: string): Shape =>
  record(mapped(shape, becomes), { names: resourceName, called })

const endpointRules = list(
  object(
    {
      path: mapped(text(), 'path of the rule'),
      service: mapped(text(), 'its Service'),
      port: mapped(portNumber(), 'port of the Service'),
    },
    { required: ['path', 'service', 'port'] },
  ),
)

const endpointLabels = record(anyOf('string', 'number', 'boolean', 'null'))

const named = record(mapped(endpointRules, 'a route with the name as its host'), { called: 'ENDPOINT' })

const labelled = object(
  { labels: mapped(endpointLabels, 'annotations of the routes'), rules: mapped(endpointRules, 'the route') },
  { required: ['rules'] },
)

/**
 * The three notations of `endpoints` (specification, endpoint objects): rules, rules by name, and an object with labels. The last two are
 * both mappings: what has `rules`, or labels that are no list of rules, is the object.
 */
const endpoints: Shape = {
  list: endpointRules.list!,
  map: {
    ...named.map!,
    keys: labelled.map!.keys,
    choose: tree => (tree.entries.has('rules') || get(tree, 'labels')?.kind === 'map' ? labelled.map! : named.map!),
  },
}

/** Every key of a Compose file: what may be written, and what becomes of it. The top level. */
export const composeShape: Shape = object({
  name: mapped(text(), 'the name of the environment', '`--name` wins'),
  version: none(text(), {
    severity: 'info',
    message: '`version` is obsolete and has no effect',
    why: 'Compose files have one grammar now. The key is accepted, and nothing reads it.',
    hint: 'remove the line',
  }),
  include: cli(
    list(
      // An item without a value brings nothing.
      orNull(
        either(
          text(),
          object({
            path: cli(orNull(textOrList({ unique: true })), 'the files'),
            project_directory: cli(orNull(text()), 'where their paths begin'),
            env_file: cli(orNull(textOrList({ unique: true })), 'their variables'),
          }),
        ),
      ),
    ),
    'other Compose files, read before this one',
  ),
  services: mapped(resources(service, 'a workload and a Service', 'SERVICE'), 'workloads and Services'),
  endpoints: mapped(endpoints, 'Ingress or HTTPRoute', 'of the dialect'),
  volumes: mapped(resources(topLevelVolume, 'a claim', 'VOLUME'), 'PersistentVolumeClaims'),
  networks: mapped(
    resources(topLevelNetwork, 'a policy', 'NETWORK'),
    'NetworkPolicies',
    'when the file separates its services',
  ),
  secrets: mapped(resources(topLevelSecret, 'a Secret', 'SECRET'), 'Secrets'),
  configs: mapped(
    resources(topLevelConfig, 'a ConfigMap', 'CONFIG'),
    'ConfigMaps',
    'with a hash of the content in the name',
  ),
  models: {
    shape: record(
      object(
        {
          model: text(),
          name: text(),
          context_size: strictInteger(),
          runtime_flags: list(text()),
        },
        { required: ['model'] },
      ),
      { names: resourceName, called: 'MODEL' },
    ),
    fate: 'refused',
    becomes: '',
    note: 'an error at the services that use one: a cluster has no model runner',
  },
  jobs,
})
