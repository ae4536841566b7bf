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
import { endpoints } from './endpoints.ts'
import { kubernetesObjects } from './kubernetes.ts'
import { topLevelNetwork } from './network.ts'
import { job, service } from './service.ts'
import { topLevelConfig, topLevelSecret, topLevelVolume } from './storage.ts'

const resources = (shape: Shape, becomes: string, called: string): Shape =>
  record(mapped(shape, becomes), { names: resourceName, called })

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
    note: 'an error for services that use one: Kubernetes has no model runner',
  },
  'x-kubernetes': mapped(kubernetesObjects, 'any other objects', 'of the dialect'),
})
