import { approximated, cli, mapped, mappedOrRefused, none, refused } from '../../schema/row.ts'
import {
  anyOf,
  command,
  either,
  flag,
  inDigits,
  list,
  object,
  options,
  orNull,
  record,
  resourceName,
  type Shape,
  strictFlag,
  text,
  word,
} from '../../schema/shape.ts'
import { isFalse } from '../../schema/value-predicates.ts'
import { get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import { readServiceEnvironment } from '../read/environment.ts'
import { readReference } from '../read/image.ts'
import { readLabels } from '../read/labels.ts'
import * as read from '../read/plain-values.ts'
import { readRuntime } from '../read/runtime.ts'
import { castFlag, labels, user, variables } from './forms.ts'
import * as path from './host-paths.ts'
import * as identity from './identities.ts'
import type { Keys } from './key.ts'
import * as long from './long-forms.ts'
import * as merge from './merge-rules.ts'
import * as print from './print.ts'

const commandWords: Shape = { ...command(), merge: merge.replace, print: print.words }

const envFile = object(
  {
    path: cli({ ...text(), path: path.file, print: print.item }, 'the file to read'),
    format: cli(text(), 'its format: as `.env`, or `raw`'),
    required: cli({ ...flag(), print: print.optionalFlag }, '`false`: a missing file is not an error'),
  },
  { required: ['path'] },
)

const labelFiles: Shape = {
  ...either(text(), list({ ...text(), path: path.file })),
  long: long.listOfOne,
  merge: merge.texts,
}

/**
 * Returns true if all models that a service uses have an `x-endpoint`. Ignores undefined models, which have a separate
 * diagnostic.
 */
const haveEndpoints = (uses: Tree, owners: readonly MapTree[]): boolean =>
  isMap(uses) &&
  [...uses.entries.keys()].every(name => {
    const model = get(owners.at(-1), 'models', name)
    return !isMap(model) || model.entries.has('x-endpoint')
  })

/** Keys for the image and the process of a container, shared by services, jobs and pre_start hooks. */
export const imageAndProcess = {
  image: {
    ...mapped(text(), '`containers[].image`', 'required unless `build` is given'),
    read: { image: readReference },
  },
  pull_policy: {
    ...mapped(
      word(['always', 'never', 'missing', 'if_not_present', 'build', 'refresh', 'daily', 'weekly'], {
        pattern: /^every_([0-9]+[wdhms])+$/,
        like: '`every_12h`',
      }),
      '`imagePullPolicy`',
      'default: the Kubernetes default for the tag, written out. With `build` and `image`, a policy that pulls (`missing`, `always`) has `deploy` take an image that the registry has, and `never` has it built. `daily`, `weekly` and `every_…` become `IfNotPresent` with a warning',
    ),
    read: { pullPolicy: read.text },
  },
  pull_refresh_after: none(text(), {
    why: 'Kubernetes decides when a Pod starts if it pulls the image; it does not know the age of a cached one.',
    hint: 'use `pull_policy: always` to check for a newer image at every start',
  }),
  platform: {
    ...mapped(
      text(),
      '`nodeSelector` on `kubernetes.io/os` and `kubernetes.io/arch`',
      'the variant (`/v8`) is dropped',
    ),
    read: { platform: read.text },
  },
  command: {
    ...mapped(commandWords, '`args`', 'text is split into words as a shell would, but no shell runs it'),
    read: { command: read.words },
  },
  entrypoint: { ...mapped(commandWords, '`command`'), read: { entrypoint: read.words } },
  working_dir: { ...mapped(text(), '`workingDir`'), read: { workingDir: read.text } },
  environment: {
    ...mapped(
      variables(),
      '`env`, sorted by name',
      'wins over `env_file`, even if empty. `$` is escaped where Kubernetes would expand it again',
    ),
    read: readServiceEnvironment,
  },
  env_file: {
    ...mapped(
      {
        ...either(text(), list(either(text(), envFile))),
        long: long.envFiles,
        merge: merge.texts,
        identity: identity.envFile,
      },
      '`env`, read when the files are compiled',
    ),
    read: readServiceEnvironment,
  },
  labels: {
    ...mapped(
      labels(),
      'annotations of every object of the service and of its Pods',
      '`dev.platform/*` labels are instructions and never reach the Pods',
    ),
    read: { labels: readLabels },
  },
  label_file: { ...mapped(labelFiles, 'annotations; `labels` wins'), read: { labels: readLabels } },
  annotations: { ...mapped(labels(), 'annotations of the Pods'), read: { annotations: read.pairs } },
  init: {
    ...approximated(
      { ...castFlag(), print: print.optionalFlag },
      '`shareProcessNamespace: true`',
      'the pause process reaps zombies, but the program is no longer PID 1',
      {
        message:
          '`init` becomes a shared process namespace: the pause process reaps zombies, and the program is not PID 1',
        why: 'Compose starts a small init process as PID 1, which forwards signals and reaps zombies. In a Pod the pause container reaps zombies if the containers share a process namespace; the program then has another PID.',
        hint: 'for both, start the program with an init process in the image (`tini`, `dumb-init`)',
        harmless: isFalse,
      },
    ),
    read: { init: read.flag },
  },
  user: {
    ...mapped(
      user(),
      '`securityContext.runAsUser` and `runAsGroup`',
      'numbers and `root`; other names need the `/etc/passwd` of the image (warning)',
    ),
    read: { user: read.text },
  },
  group_add: {
    ...mapped(
      list(inDigits(anyOf('string', 'integer')), { unique: true }),
      '`securityContext.supplementalGroups`',
      'numbers only; names get a warning',
    ),
    read: { groupAdd: read.texts },
  },
  umask: none(
    {
      scalar: { types: ['integer', 'string', 'null'], minimum: 0, maximum: 4294967295 },
      cast: 'umask',
      print: print.optionalInteger,
    },
    {
      why: 'A Pod has no field for the umask; a process starts with the umask of the container runtime, 0022.',
      hint: "set it when the process starts: `sh -c 'umask 077; exec …'`",
    },
  ),
  stop_grace_period: {
    ...mapped(
      { scalar: { types: ['string', 'integer'], minimum: 0 }, print: print.secondsOrDuration },
      '`terminationGracePeriodSeconds`',
      'a number without a unit is seconds. Default: 10, as in Compose',
    ),
    read: { stopGracePeriod: read.duration },
  },
  stop_signal: none(text(), {
    message: '`stop_signal` is left out: the container gets the `STOPSIGNAL` of its image, else SIGTERM',
    why: 'The Kubernetes field for it is behind a feature gate that most clusters have not enabled. Every container runtime respects the `STOPSIGNAL` of the image.',
    hint: 'set `STOPSIGNAL` in the Dockerfile',
  }),
  runtime: {
    ...mapped(text(), '`runtimeClassName`', '`runc` is the default of every cluster and left out'),
    read: { runtime: readRuntime },
  },
  logging: none(
    { ...object({ driver: text(), options: options('null') }), merge: merge.logging },
    {
      why: 'The node stores the output of a container, and a log agent on the node forwards it. A Pod cannot choose a logging driver.',
      hint: 'log to standard output and configure the log agent of the cluster',
      minor: value => {
        const driver = value.kind === 'map' ? value.entries.get('driver')?.value : undefined
        return (
          driver === undefined || (driver.kind === 'scalar' && ['json-file', 'local'].includes(String(driver.value)))
        )
      },
    },
  ),
  models: {
    ...mappedOrRefused(
      {
        ...either(
          list(text(), { unique: true }),
          record(
            orNull(
              object({
                endpoint_var: mapped(text(), 'the variable with the address', 'default: `MODEL_URL`'),
                model_var: mapped(text(), 'the variable with the name', 'default: `MODEL_MODEL`'),
              }),
            ),
            { names: resourceName, otherwise: 'ignored', called: 'MODEL' },
          ),
        ),
        long: long.names,
        merge: merge.names,
      },
      '`env`: address and name of each model',
      'win over `environment`, as in Compose. A model without `x-endpoint` is an error: Kubernetes has no model runner',
      {
        message: '`models` needs a model runner, which Kubernetes does not have',
        why: 'Compose starts models in the model runner of the container engine and passes their addresses to the service. Kubernetes has no model runner, and without the addresses the service would not work as described. A model with `x-endpoint` runs elsewhere: at a provider, or as a service of the project. Its services get that address, and the name of the model.',
        hint: 'set `x-endpoint` of the model to the address of its API; the model may run as a service of the project',
        harmless: haveEndpoints,
      },
    ),
    read: readServiceEnvironment,
  },
  use_api_socket: refused(strictFlag(), {
    message: '`use_api_socket` needs a container engine socket, which Kubernetes does not expose',
    why: 'The key mounts the API socket and the credentials of the container engine into the container. Nodes of a cluster do not offer such a socket.',
    hint: 'use the Kubernetes API instead, or remove the key',
    harmless: isFalse,
  }),
} satisfies Keys
