import { cli, mapped, none, refused, unusable } from '../../schema/row.ts'
import {
  anyOf,
  command,
  either,
  flag,
  keyValues,
  list,
  number,
  object,
  type Row,
  record,
  resourceName,
  type Shape,
  strictFlag,
  text,
  textOrList,
  word,
} from '../../schema/shape.ts'
import { isInherited } from '../../schema/value-predicates.ts'
import { castFlag, duration, user } from './forms.ts'
import * as path from './host-paths.ts'
import * as long from './long-forms.ts'
import * as merge from './merge-rules.ts'
import * as print from './print.ts'
import { printHealthTest } from './print-special.ts'
import { shapeWithRules } from './shape-with-rules.ts'

/** The values of `restart` and of `deploy.restart_policy.condition`. */
export const restartWords = ['always', 'unless-stopped', 'any', 'none', 'never', 'no', 'on-failure'] as const

const switchedOnProbe = (becomes: string, note: string): Row =>
  mapped({ ...castFlag(), print: print.asIs }, becomes, note)

/** `healthcheck` of a service. */
export const healthcheck: Shape = object({
  test: mapped(
    { ...textOrList(), merge: merge.replace, print: printHealthTest },
    '`exec` of the probe',
    'text and `CMD-SHELL` run in a shell; `NONE`: no probe',
  ),
  http: mapped(
    {
      ...object(
        {
          path: mapped(text(), '`httpGet.path`'),
          port: mapped({ ...portNumber(), cast: 'integer' }, '`httpGet.port`'),
        },
        { required: ['path', 'port'] },
      ),
      print: print.asIs,
    },
    '`httpGet` of the probe',
    'of the dialect',
  ),
  interval: mapped(duration(), '`periodSeconds`', 'whole seconds, at least one'),
  timeout: mapped(duration(), '`timeoutSeconds`', 'default: 30 s, as in Compose'),
  retries: mapped({ ...number(), cast: 'integer', print: print.optionalCount }, '`failureThreshold`'),
  start_period: mapped(duration(), '`initialDelaySeconds`', 'with `start_interval` a `startupProbe`'),
  start_interval: mapped(
    duration(),
    '`startupProbe.periodSeconds`',
    'until a check has passed; without `start_period` no effect (warning)',
  ),
  disable: mapped(castFlag(), 'no probe'),
  'x-platform-readiness': switchedOnProbe('`readinessProbe`', 'of the dialect; default `true`'),
  'x-platform-liveness': switchedOnProbe('`livenessProbe`', 'of the dialect; default `false`'),
})

/** Returns the shape of a port: a number, or text from a variable. */
export function portNumber(): Shape {
  return {
    scalar: { types: ['integer', 'string'], minimum: 1, maximum: 65535, pattern: /^[0-9]+$/, like: 'a port number' },
  }
}

/** `depends_on`: a list of services, or a mapping of services to conditions. */
export const dependsOn: Shape = {
  ...either(
    list(text(), { unique: true }),
    record(
      mapped(
        object(
          {
            condition: mapped(
              word(['service_started', 'service_healthy', 'service_completed_successfully']),
              'what the init container or `deploy` waits for',
              'nothing waits for a service with zero replicas',
            ),
            required: mapped(
              { ...strictFlag(), cast: 'boolean', print: print.optionalFlag },
              '`false`: no wait if the service does not exist',
            ),
            restart: mapped(
              castFlag(),
              'the annotation `dev.platform/restarts-with` of the Pods',
              'a changed Pod template of the dependency replaces the Pods of this service, too',
            ),
          },
          { required: ['condition'] },
        ),
        'a wait before the service starts',
      ),
      { names: resourceName, called: 'SERVICE' },
    ),
  ),
  long: long.dependencies,
  merge: merge.dependencies,
}

const hookKeys = {
  command: mapped({ ...command(), print: print.words }, '`exec` of the handler', 'several hooks run in order'),
  user: unusable(user(), 'a handler runs as the user of the container (warning)'),
  privileged: unusable(flag(), 'a handler has the privileges of the container (warning)'),
  working_dir: mapped(text(), '`cd` before the command'),
  environment: mapped({ ...keyValues(), print: print.environment }, 'environment variables of the command'),
}

/** A `post_start` or `pre_stop` hook: a command in the running container. */
export const hook: Shape = { ...object(hookKeys, { required: ['command'] }), always: { command: print.nothing } }

const ofHook = new Set(['command', 'entrypoint', 'user', 'privileged', 'working_dir', 'environment'])

/**
 * Returns the shape of a `pre_start` hook: a container that runs before the service. The hook accepts all container
 * keys.
 */
export function preStartHook(containerKeys: Readonly<Record<string, Row>>): Shape {
  const keys: Record<string, Row> = {}
  for (const [key, row] of Object.entries(containerKeys))
    keys[key] = ofHook.has(key)
      ? row
      : none(shapeWithRules(row), {
          family: 'pre-start',
          says: 'has no effect on the hook and is left out',
          harmless: isInherited,
          why: 'A `pre_start` hook becomes an init container with its own image, command, user, `privileged`, working directory and environment. It shares everything else with the service.',
          hint: 'set it on the service',
        })
  keys['image'] = mapped(text(), '`initContainers[].image`', 'default: the image of the service')
  keys['per_replica'] = mapped(flag(), 'an init container of every Pod', 'an init container runs whenever a Pod starts')
  return { ...object(keys), always: { command: print.nothing, entrypoint: print.nothing } }
}

// The hook keys without their rows: `up` uses all of these keys, so the row of `exec` covers them.
const hookOfWatch: Shape = {
  ...object(Object.fromEntries(Object.entries(hookKeys).map(([key, row]) => [key, row.shape])), {
    required: ['command'],
  }),
  always: { command: print.nothing },
}

const patterns: Shape = { ...textOrList({ unique: true }), long: long.listOfOne }

/** `develop` of a service (https://github.com/compose-spec/compose-spec/blob/main/develop.md). */
export const develop: Shape = {
  scalar: { types: ['null'] },
  ...object({
    watch: cli(
      list({
        ...object(
          {
            path: cli({ ...text(), path: path.linked }, 'folder or file to watch'),
            action: cli(word(['rebuild', 'sync', 'restart', 'sync+restart', 'sync+exec']), 'what a change does'),
            target: cli(text(), 'path in the container'),
            ignore: cli(patterns, 'patterns to ignore'),
            include: cli(patterns, 'patterns to watch'),
            initial_sync: cli(strictFlag(), 'copy everything at the start', '`up` always does'),
            exec: cli(hookOfWatch, 'command after the copy', 'runs as the user of the container'),
          },
          { required: ['path', 'action'] },
        ),
        always: { exec: print.emptyHook },
      }),
      'paths that `up` watches and syncs',
    ),
  }),
}

/** `provider`: a service that a program provides in place of a container. */
export const provider: Row = refused(
  object(
    {
      type: text(),
      options: record(either(anyOf('string', 'number', 'boolean'), list(anyOf('string', 'number', 'boolean'))), {
        called: 'OPTION',
        otherwise: 'ignored',
      }),
    },
    { required: ['type'] },
  ),
  {
    message: 'a service with a `provider` is not a container; Kubernetes does not support it',
    why: 'Compose runs a program on this machine that provides the service, and passes the variables that it prints to the dependants. The address of the service is not known when the manifests are written.',
    hint: 'run it as a service with an `image`, or set its address in the `environment` of the dependants',
  },
)
