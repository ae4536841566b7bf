import { cli, mapped, none } from '../../schema/row.ts'
import {
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
} from '../../schema/shape.ts'
import type { MapTree, Tree } from '../../text/tree.ts'
import { endpoints } from './endpoints.ts'
import { kubernetesObjects } from './kubernetes.ts'
import { topLevelNetwork } from './network.ts'
import * as print from './print.ts'
import { job, service } from './service.ts'
import { topLevelConfig, topLevelSecret, topLevelVolume } from './storage.ts'

const resources = (shape: Shape, becomes: string, called: string): Shape =>
  record(mapped(shape, becomes), { names: resourceName, called })

const noRunner = {
  family: 'model-settings',
  why: 'The key configures the model runner of the container engine. A model with `x-endpoint` runs elsewhere, and devctl only passes its address and its name to services.',
  hint: 'set it where the model runs',
  // Without an endpoint, the services that use the model are errors.
  harmless: (_: Tree, [owner]: readonly MapTree[]) => !owner?.entries.has('x-endpoint'),
}

const modelKeys = {
  model: mapped(
    text(),
    'the name of the model for its API',
    'may be left out with `x-endpoint`: the name of the entry',
  ),
  name: none(text(), noRunner),
  context_size: none(strictInteger(), noRunner),
  runtime_flags: none(list(text()), noRunner),
  // Empty text is printed: it is an error, not an absent address.
  'x-endpoint': mapped(
    { ...text(), print: print.asIs },
    'the address of its API',
    'of the dialect: `http://ollama:11434/v1`',
  ),
}

const located = object(modelKeys, { required: ['x-endpoint'] })
const unlocated = object(modelKeys, { required: ['model'] })

const model: Shape = {
  map: {
    ...unlocated.map!,
    choose: tree => (tree.entries.has('x-endpoint') ? located.map! : unlocated.map!),
    notations: [located.map!, unlocated.map!],
  },
}

/** The table of all keys of a Compose file, from the top level. */
export const composeShape: Shape = object({
  name: mapped(text(), 'the name of the environment', '`--name` wins'),
  version: none(text(), {
    severity: 'info',
    message: '`version` is obsolete and has no effect',
    why: 'The Compose Specification has no versions. The key is accepted and ignored.',
    hint: 'remove the line',
  }),
  include: cli(
    list(
      // An item without a value includes nothing.
      orNull(
        either(
          text(),
          object({
            path: cli(orNull(textOrList({ unique: true })), 'the files'),
            project_directory: cli(orNull(text()), 'what their paths are relative to'),
            env_file: cli(orNull(textOrList({ unique: true })), 'their env files'),
          }),
        ),
      ),
    ),
    'other Compose files, read before this one',
  ),
  services: mapped(resources(service, 'a workload and a Service', 'SERVICE'), 'workloads and Services'),
  jobs: mapped(resources(job, 'CronJobs', 'JOB'), 'CronJobs'),
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
  models: mapped(
    record(model, { names: resourceName, called: 'MODEL' }),
    'variables of the services that use it',
    'needs `x-endpoint`: Kubernetes has no model runner',
  ),
  'x-kubernetes': mapped(kubernetesObjects, 'any other objects', 'of the dialect'),
})
