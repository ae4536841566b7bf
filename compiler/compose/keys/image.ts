import { isFalse } from '../../schema/harmless.ts'
import { approximated, cli, mapped, none, refused } from '../../schema/row.ts'
import {
  anyOf,
  command,
  either,
  flag,
  keyValues,
  list,
  object,
  options,
  orNull,
  record,
  resourceName,
  strictFlag,
  text,
  textOrList,
  word,
} from '../../schema/shape.ts'

/** The image of a container and the process in it: keys of services, jobs and pre_start hooks. */
export const imageAndProcess = {
  image: mapped(text(), '`containers[].image`', 'required unless `build` is given'),
  pull_policy: mapped(
    word(['always', 'never', 'missing', 'if_not_present', 'build', 'refresh', 'daily', 'weekly'], {
      pattern: /^every_([0-9]+[wdhms])+$/,
      like: '`every_12h`',
    }),
    '`imagePullPolicy`',
    'absent: what Kubernetes would choose for the tag, written out. `daily`, `weekly` and `every_…` become `IfNotPresent` with a warning',
  ),
  pull_refresh_after: none(text(), {
    why: 'Kubernetes pulls an image when a Pod starts, or not; it does not know the age of what it has.',
    hint: 'use `pull_policy: always` to look for a newer image at every start',
  }),
  platform: mapped(
    text(),
    '`nodeSelector` on `kubernetes.io/os` and `kubernetes.io/arch`',
    'the variant (`/v8`) is dropped',
  ),
  command: mapped(command(), '`args`', 'text is split into words as a shell would, but no shell runs it'),
  entrypoint: mapped(command(), '`command`'),
  working_dir: mapped(text(), '`workingDir`'),
  environment: mapped(
    keyValues(),
    '`env`, sorted by name',
    'wins over `env_file`, also when empty. `$` is escaped where Kubernetes would expand it again',
  ),
  env_file: mapped(
    either(
      text(),
      list(
        either(
          text(),
          object(
            {
              path: cli(text(), 'the file to read'),
              format: cli(text(), 'its grammar: as `.env`, or `raw`'),
              required: cli(flag(), 'whether a missing file is an error'),
            },
            { required: ['path'] },
          ),
        ),
      ),
    ),
    '`env`, read when the files are compiled',
  ),
  labels: mapped(
    keyValues(),
    'annotations of every object of the service and of its Pods',
    '`dev.platform/*` labels are instructions and never reach the Pods',
  ),
  label_file: mapped(textOrList(), 'annotations, below those of `labels`'),
  annotations: mapped(keyValues(), 'annotations of the Pods'),
  init: approximated(
    flag(),
    '`shareProcessNamespace: true`',
    'the pause process reaps zombies, but the program is no longer process 1',
    {
      message:
        '`init` becomes a shared process namespace: the pause process reaps zombies, and the program is not process 1',
      why: 'Compose starts a small init as process 1, which passes signals on and reaps zombies. In a Pod the pause container does the reaping when the containers share a process namespace; the program itself then has another process number.',
      hint: 'to keep both, start the program through an init of the image (`tini`, `dumb-init`)',
      harmless: isFalse,
    },
  ),
  user: mapped(
    text(),
    '`securityContext.runAsUser` and `runAsGroup`',
    'numbers and `root`; other names cannot be looked up in an image that is not at hand (warning)',
  ),
  group_add: mapped(
    list(anyOf('string', 'integer'), { unique: true }),
    '`securityContext.supplementalGroups`',
    'numbers only; names get a warning',
  ),
  umask: none(
    { scalar: { types: ['integer', 'string', 'null'], minimum: 0, maximum: 4294967295 } },
    {
      why: 'A Pod has no field for the mask of new files; a process starts with the one of the container runtime, 0022.',
      hint: "set it where the process starts: `sh -c 'umask 077; exec …'`",
    },
  ),
  stop_grace_period: mapped(
    { scalar: { types: ['string', 'integer'], minimum: 0 } },
    '`terminationGracePeriodSeconds`',
    'a number without a unit is seconds. Absent: 10, as in Compose',
  ),
  stop_signal: none(text(), {
    message: '`stop_signal` is left out: the container gets the signal that its image names (STOPSIGNAL), else SIGTERM',
    why: 'The field that Kubernetes has for it is still switched off in most clusters. What every container runtime honours is the `STOPSIGNAL` of the image.',
    hint: 'put `STOPSIGNAL` into the Dockerfile',
  }),
  runtime: mapped(text(), '`runtimeClassName`', '`runc` is every cluster’s default and left out'),
  logging: none(
    object({
      driver: text(),
      options: options('null'),
    }),
    {
      why: 'In a cluster the node keeps what a container prints, and an agent on the node sends it on. A Pod cannot choose a logging driver.',
      hint: 'print to standard output; where the lines go is for the cluster’s log agent',
      minor: value => {
        const driver = value.kind === 'map' ? value.entries.get('driver')?.value : undefined
        return (
          driver === undefined || (driver.kind === 'scalar' && ['json-file', 'local'].includes(String(driver.value)))
        )
      },
    },
  ),
  models: refused(
    either(
      list(text(), { unique: true }),
      record(orNull(object({ endpoint_var: text(), model_var: text() })), {
        names: resourceName,
        otherwise: 'ignored',
        called: 'MODEL',
      }),
    ),
    {
      message: '`models` needs a model runner, and a cluster has none',
      why: 'Compose starts models in the engine’s own model runner and hands their addresses to the service. There is no such runner in a cluster, and without the addresses the service would not be what the file says.',
      hint: 'run the model as a service of its own, and give its address and name in `environment`',
    },
  ),
  use_api_socket: refused(strictFlag(), {
    message: '`use_api_socket` needs a container engine, and a cluster gives no container access to one',
    why: 'The key mounts the engine’s API socket and credentials into the container. A node of a cluster does not offer such a socket.',
    hint: 'talk to the cluster’s API instead, or remove the key',
    harmless: isFalse,
  }),
}
