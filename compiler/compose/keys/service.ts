import { cli, mapped } from '../../schema/row.ts'
import { either, flag, list, object, type Row, type Shape, text, word } from '../../schema/shape.ts'
import { readBuild } from '../read/build.ts'
import { readDependsOn, readLinks } from '../read/depends-on.ts'
import { readDeploy } from '../read/deploy.ts'
import { readWatch } from '../read/develop.ts'
import { readDeviceRequests } from '../read/devices.ts'
import { readHealthcheck } from '../read/healthcheck.ts'
import { readHooks } from '../read/hooks.ts'
import * as read from '../read/plain-values.ts'
import { readResources } from '../read/resources.ts'
import { readRestart } from '../read/restart.ts'
import { readScale } from '../read/scale.ts'
import { readTriggers } from '../read/triggers.ts'
import { build } from './build.ts'
import { deploy } from './deploy.ts'
import { castFlag, castInteger, names } from './forms.ts'
import * as path from './host-paths.ts'
import { imageAndProcess } from './image.ts'
import { isolation } from './isolation.ts'
import type { Keys } from './key.ts'
import { dependsOn, develop, healthcheck, hook, preStartHook, provider, restartWords } from './lifecycle.ts'
import * as long from './long-forms.ts'
import { exposure, network } from './network.ts'
import * as print from './print.ts'
import { machine, serviceResources } from './resources.ts'
import { shapeWithRules } from './shape-with-rules.ts'
import { storage } from './storage.ts'

/** The container keys, which services, jobs and pre_start hooks share. */
export const containerKeys = {
  ...imageAndProcess,
  ...machine,
  ...isolation,
  ...network,
  ...storage,
}

/** The keys that services and jobs share, besides the container keys. */
const workloadKeys = {
  build: {
    ...cli(build, 'the image of the container', '`<registry>/<environment>-<service>:<tag>` unless `image` is set'),
    read: { build: readBuild },
  },
  depends_on: {
    ...mapped(dependsOn, 'the order of `deploy`, or init containers that wait', 'applies to the start only'),
    read: { dependsOn: readDependsOn },
  },
  healthcheck: {
    ...mapped(
      healthcheck,
      '`readinessProbe`, `livenessProbe`',
      'default: the HEALTHCHECK of the Dockerfile if the service has `build` (info)',
    ),
    read: { healthcheck: readHealthcheck },
  },
  ...exposure,
  stdin_open: { ...mapped(castFlag(), '`stdin`'), read: { stdinOpen: read.flagOrFalse } },
  tty: { ...mapped(castFlag(), '`tty`'), read: { tty: read.flagOrFalse } },
}

const containerName = text({
  pattern: /[a-zA-Z0-9][a-zA-Z0-9_.-]+|^[a-zA-Z0-9]$/,
  like: 'letters and digits, with `_`, `.` and `-` between them',
  odd: { pattern: /^.$/, says: 'Compose itself requires at least two characters' },
})

/** The keys of a service by subject, for the documentation. */
export const serviceFamilies = {
  'Image and process': imageAndProcess,
  'Building, order and health': {
    build: workloadKeys.build,
    depends_on: workloadKeys.depends_on,
    healthcheck: workloadKeys.healthcheck,
    stdin_open: workloadKeys.stdin_open,
    tty: workloadKeys.tty,
    restart: {
      ...mapped(
        // Text that is empty because a variable is not set counts as absent.
        word(restartWords, { pattern: /^$|^on-failure:[0-9]+$/, like: '`on-failure:3`' }),
        'the kind of workload: anything but `always` is a Job',
        'default `always`; `unless-stopped` and `any` mean the same',
      ),
      read: { restart: readRestart },
    },
    scale: {
      ...mapped({ ...castInteger(), print: print.optionalInteger }, '`replicas`, or `completions` of a Job'),
      read: { scale: readScale },
    },
    deploy: {
      ...mapped(deploy, 'the workload'),
      read: {
        deploy: readDeploy,
        gpus: readDeviceRequests,
        resources: readResources,
        restart: readRestart,
        scale: readScale,
      },
    },
    pre_start: {
      ...mapped(
        list(preStartHook(containerKeys)),
        'init containers, in order',
        'other keys of a container have no effect there (warning)',
      ),
      read: { preStart: readHooks },
    },
    post_start: { ...mapped(list(hook), '`lifecycle.postStart`'), read: { postStart: readHooks } },
    pre_stop: { ...mapped(list(hook), '`lifecycle.preStop`'), read: { preStop: readHooks } },
    container_name: {
      ...mapped(
        containerName,
        'a Service of that name',
        'Compose resolves it as a host name; one with a dot is the `hostname` and `subdomain` of the Pod',
      ),
      read: { containerName: read.text },
    },
    provider,
    profiles: cli(names(), 'selects the services'),
    extends: cli(
      {
        ...either(
          text(),
          object(
            { service: cli(text(), 'its name'), file: cli({ ...text(), path: path.file }, 'the file it is in') },
            { required: ['service'] },
          ),
        ),
        long: long.underKey('service'),
      },
      'the service to start from',
    ),
    attach: {
      ...cli({ ...flag(), print: print.optionalFlag }, '`false`: left out of `logs`'),
      read: { attach: read.flagOrTrue },
    },
    develop: { ...cli(develop, 'paths that `up` watches and syncs'), read: { watch: readWatch } },
  },
  'Machine resources': {
    resources: {
      ...mapped({ ...serviceResources, print: print.asIs }, '`resources`', 'of the dialect'),
      read: { resources: readResources },
    },
    ...machine,
  },
  Network: {
    ...exposure,
    ...network,
    links: { ...mapped(names(), 'a Service for the alias, and the start order'), read: { links: readLinks } },
    external_links: {
      ...mapped(list(text(), { unique: true }), 'a Service of type ExternalName'),
      read: { externalLinks: readLinks },
    },
  },
  Storage: storage,
  'Isolation and placement': isolation,
} satisfies Readonly<Record<string, Keys>>

/** All keys of a service. */
export const serviceKeys = {
  ...serviceFamilies['Image and process'],
  ...serviceFamilies['Building, order and health'],
  ...serviceFamilies['Machine resources'],
  ...serviceFamilies.Network,
  ...serviceFamilies.Storage,
  ...serviceFamilies['Isolation and placement'],
}

/** An entry of `services`. */
export const service: Shape = {
  ...object(serviceKeys),
  always: { command: print.nothing, entrypoint: print.nothing },
}

/** `triggers` of a job. */
const triggers = {
  ...mapped(
    object({
      manual: cli({ ...castFlag(), print: print.optionalFlag }, 'a job without a schedule: a suspended CronJob'),
      schedule: mapped(
        list({
          ...either(
            text(),
            object(
              {
                cron: mapped(text(), '`schedule`'),
                timezone: mapped(text(), '`timeZone`', 'default: that of the controllers, usually UTC'),
                concurrency: mapped(word(['forbid', 'queue']), '`concurrencyPolicy`', 'default `Allow`'),
                missed_fires: mapped(word(['one', 'skip']), '`startingDeadlineSeconds`', '`skip` is a minute'),
              },
              { required: ['cron'] },
            ),
          ),
          long: long.underKey('cron'),
        }),
        'a CronJob for each entry',
      ),
    }),
    'CronJobs',
  ),
  read: { triggers: readTriggers },
}

const bare = (rows: Readonly<Record<string, Row>>): Record<string, Shape> =>
  Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, shapeWithRules(row)]))

/** An entry of `jobs`: a container that runs on a schedule, or when a user starts it. */
export const job: Shape = {
  // The rows of the keys are those of services, which jobs become.
  ...object(
    { ...bare(containerKeys), ...bare(workloadKeys), profiles: shapeWithRules(serviceKeys.profiles), triggers },
    { required: ['triggers'] },
  ),
  always: service.always,
}

/** The keys of a service in the loaded model, in which jobs are services with `triggers`. */
export const loadedServiceKeys = { ...serviceKeys, triggers }

/** A service or job in the loaded model. */
export const loadedService: Shape = { ...service, ...object(loadedServiceKeys) }
