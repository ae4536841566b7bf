import { isInherited } from '../../schema/harmless.ts'
import { cli, mapped, none, refused, shapeOf, unusable } from '../../schema/row.ts'
import type { Row } from '../../schema/shape.ts'
import {
  anyOf,
  command,
  either,
  flag,
  keyValues,
  list,
  number,
  object,
  record,
  resourceName,
  type Shape,
  strictFlag,
  text,
  textOrList,
  word,
} from '../../schema/shape.ts'

/** The words of `restart` and of `deploy.restart_policy.condition` (specification, restart policy values). */
export const restartWords = ['always', 'unless-stopped', 'any', 'none', 'never', 'no', 'on-failure'] as const

const switchedOnProbe = (becomes: string, note: string): Row => mapped(flag(), becomes, note)

/** When a service is well (specification, healthcheck object). */
export const healthcheck: Shape = object({
  test: mapped(textOrList(), '`exec` of the probe', 'text and `CMD-SHELL` run in a shell; `NONE`: no probe'),
  http: mapped(
    object(
      { path: mapped(text(), '`httpGet.path`'), port: mapped(portNumber(), '`httpGet.port`') },
      { required: ['path', 'port'] },
    ),
    '`httpGet` of the probe',
    'of the dialect',
  ),
  interval: mapped(text(), '`periodSeconds`', 'whole seconds, at least one'),
  timeout: mapped(text(), '`timeoutSeconds`', 'absent: 30 s, as in Compose'),
  retries: mapped(number(), '`failureThreshold`'),
  start_period: mapped(text(), '`initialDelaySeconds`'),
  start_interval: unusable(text(), 'a probe has one interval (warning)'),
  disable: mapped(flag(), 'no probe'),
  'x-platform-readiness': switchedOnProbe('`readinessProbe`', 'of the dialect; `true` unless given'),
  'x-platform-liveness': switchedOnProbe('`livenessProbe`', 'of the dialect; `false` unless given'),
})

/** A port as a number, or as text where a variable gave it. */
export function portNumber(): Shape {
  return {
    scalar: { types: ['integer', 'string'], minimum: 1, maximum: 65535, pattern: /^[0-9]+$/, like: 'a port number' },
  }
}

/** What a service waits for: names, or names with a condition. */
export const dependsOn: Shape = either(
  list(text(), { unique: true }),
  record(
    mapped(
      object(
        {
          condition: mapped(
            word(['service_started', 'service_healthy', 'service_completed_successfully']),
            'what the wait waits for',
          ),
          required: mapped(strictFlag(), '`false`: no wait for a service that is not there'),
          restart: unusable(flag(), 'Kubernetes has no such link between workloads (warning)'),
        },
        { required: ['condition'] },
      ),
      'a wait before the service starts',
    ),
    { names: resourceName, called: 'SERVICE' },
  ),
)

const hookKeys = {
  command: mapped(command(), '`exec` of the handler', 'several hooks run one after the other'),
  user: unusable(text(), 'a handler runs as the container’s user (warning)'),
  privileged: unusable(flag(), 'a handler has the container’s rights (warning)'),
  working_dir: mapped(text(), '`cd` before the command'),
  environment: mapped(keyValues(), 'variables of the command'),
}

/** A command in the running container. */
export const hook: Shape = object(hookKeys, { required: ['command'] })

const ofHook = new Set(['command', 'entrypoint', 'user', 'privileged', 'working_dir', 'environment'])

/** A container that runs before the service: every key of a container, of which some have an effect. */
export function preStartHook(containerKeys: Readonly<Record<string, Row>>): Shape {
  const keys: Record<string, Row> = {}
  for (const [key, row] of Object.entries(containerKeys))
    keys[key] = ofHook.has(key)
      ? row
      : none(shapeOf(row), {
          family: 'pre-start',
          says: 'has no effect on the hook and is left out',
          harmless: isInherited,
          why: 'Of a `pre_start` hook the image, the command, the user, `privileged`, the working directory and the environment become those of an init container. The rest it has in common with its service.',
          hint: 'set it on the service',
        })
  keys['image'] = mapped(text(), '`initContainers[].image`', 'that of the service unless given')
  keys['per_replica'] = mapped(
    flag(),
    'an init container of every Pod',
    'an init container runs at every start of a Pod',
  )
  return object(keys)
}

// The same keys, of which `up` uses all: they go the way of `exec`.
const hookOfWatch = object(Object.fromEntries(Object.entries(hookKeys).map(([key, row]) => [key, row.shape])), {
  required: ['command'],
})

/** What `up` watches and copies. */
export const develop: Shape = {
  scalar: { types: ['null'] },
  ...object({
    watch: cli(
      list(
        object(
          {
            path: cli(text(), 'folder or file to watch'),
            action: cli(word(['rebuild', 'sync', 'restart', 'sync+restart', 'sync+exec']), 'what a change does'),
            target: cli(text(), 'path in the container'),
            ignore: cli(textOrList({ unique: true }), 'patterns to leave out'),
            include: cli(textOrList({ unique: true }), 'patterns to watch'),
            initial_sync: cli(strictFlag(), 'copy everything at the start'),
            exec: cli(hookOfWatch, 'command after the copy'),
          },
          { required: ['path', 'action'] },
        ),
      ),
      'paths that `up` keeps in line',
    ),
  }),
}

/** A service that something else than a container provides. */
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
    message: 'a service with a `provider` is no container, and nothing in a cluster provides it',
    why: 'Compose calls a program on this machine that makes the service, and hands what it prints to the dependants. The manifests could not say where the service is.',
    hint: 'run it as a service with an `image`, or give its address to the dependants in `environment`',
  },
)
