import type { LoadRules } from '../../schema/load-rules.ts'
import { approximated, mapped, none, unusable } from '../../schema/row.ts'
import {
  anyOf,
  either,
  inDigits,
  integer,
  keyValues,
  list,
  number,
  object,
  record,
  type Shape,
  text,
} from '../../schema/shape.ts'
import { isEmpty, isFalse, isMemoryLimit, isUnlimited, isZero } from '../../schema/value-predicates.ts'
import { readDeviceRequests, readDevices } from '../read/devices.ts'
import { readResources } from '../read/resources.ts'
import { readShmSize } from '../read/storage/volumes.ts'
import * as defaults from './compose-defaults.ts'
import { castFlag, castInteger, cpus, size } from './forms.ts'
import * as identity from './identities.ts'
import type { Keys } from './key.ts'
import * as long from './long-forms.ts'
import * as merge from './merge-rules.ts'
import * as print from './print.ts'
import { printDeviceCount, printUlimit } from './print-special.ts'

const realtime = {
  family: 'cpu-realtime',
  why: 'A Pod cannot reserve time of the kernel’s real-time scheduler.',
}

const rates = list({
  ...object({ path: text(), rate: { ...integer(), print: print.bytes } }),
  always: { path: print.emptyText, rate: print.zeroText },
})

/** Returns the shape of `ulimits`, by name: a single number, or a soft and a hard limit. */
export const ulimits = (number: Shape = inDigits(integer()), rules: LoadRules = {}): Shape =>
  record(
    {
      ...either(number, object({ soft: number, hard: number }, { required: ['soft', 'hard'] })),
      print: printUlimit,
      ...rules,
    },
    { names: /^[a-z]+$/, otherwise: 'ignored', called: 'LIMIT' },
  )

/** Returns the shape of a request for GPUs or other devices. */
export const deviceRequest = (options: { capabilitiesRequired: boolean }): Shape => ({
  ...object(
    {
      capabilities: mapped(
        list(text(), { unique: true }),
        'the name of the extended resource',
        '`gpu` and `tpu`; others get a warning',
      ),
      driver: mapped(text(), 'the vendor’s extended resource', '`nvidia` unless given; `amd`, `intel`'),
      count: mapped(
        { ...inDigits(integer()), print: printDeviceCount },
        'its quantity',
        '`all` has no equivalent: 1, with a warning',
      ),
      device_ids: unusable(list(text(), { unique: true }), 'the scheduler picks the device (warning)'),
      options: unusable(
        { ...keyValues({ unique: true }), print: print.options },
        'device plugins take no options per Pod (warning)',
      ),
    },
    options.capabilitiesRequired ? { required: ['capabilities'] } : { open: true },
  ),
  defaults: defaults.deviceRequest,
})

const castNumber: Shape = { ...number(), cast: 'integer', print: print.integer }

/** Keys for CPU, memory, devices and kernel limits, shared by services, jobs and pre_start hooks. */
export const machine = {
  cpus: {
    ...mapped({ ...cpus(), cast: 'number' }, '`resources.limits.cpu`', 'the same as `deploy.resources.limits.cpus`'),
    read: { resources: readResources },
  },
  cpu_count: {
    ...mapped(castInteger({ minimum: 0 }), '`resources.limits.cpu`', 'if `cpus` is not set'),
    read: { resources: readResources },
  },
  cpu_quota: {
    ...mapped(castNumber, '`resources.limits.cpu`', 'divided by `cpu_period`'),
    read: { resources: readResources },
  },
  cpu_period: {
    ...mapped(
      castNumber,
      '`resources.limits.cpu`',
      'the divisor of `cpu_quota`, default 100 ms; alone it is left out (warning)',
    ),
    read: { resources: readResources },
  },
  cpu_shares: {
    ...mapped(castNumber, '`resources.requests.cpu`', 'shares divided by 1024'),
    read: { resources: readResources },
  },
  cpu_percent: none(
    { ...integer({ minimum: 0, maximum: 100 }), cast: 'number', print: print.ratio },
    {
      why: 'The key is a limit for Windows containers, in percent of the machine. The size of the node is not known in advance.',
      hint: 'use `cpus`',
      harmless: isZero,
    },
  ),
  cpu_rt_period: none({ ...number(), print: print.microseconds }, realtime),
  cpu_rt_runtime: none({ ...number(), print: print.microseconds }, realtime),
  cpuset: none(text(), {
    why: 'A Pod cannot choose its processors. A node with the static CPU manager policy gives exclusive processors to containers whose `cpus` is a whole number, with equal requests and limits.',
    hint: 'use `cpus`',
    harmless: isEmpty,
  }),
  mem_limit: {
    ...mapped(size(), '`resources.limits.memory`', 'Compose’s units are binary: `1kb` is 1024 bytes'),
    read: { resources: readResources },
  },
  mem_reservation: {
    ...mapped({ ...anyOf('string', 'integer'), print: print.bytes }, '`resources.requests.memory`'),
    read: { resources: readResources },
  },
  memswap_limit: none(size(), {
    why: 'Swap is configured on the node, and off in most clusters. A value equal to the memory limit means no swap, which is what a Pod gets.',
    harmless: isMemoryLimit,
  }),
  mem_swappiness: none(
    { ...integer(), print: print.bytes },
    { why: 'Swappiness is configured on the node, for all Pods alike.' },
  ),
  oom_kill_disable: none(castFlag(), {
    why: 'The kernel always kills a container that exceeds its memory limit.',
    hint: 'raise `mem_limit`',
    harmless: isFalse,
  }),
  oom_score_adj: none(castInteger({ minimum: -1000, maximum: 1000 }), {
    why: 'Kubernetes derives the score from requests and limits: a Pod whose requests equal its limits is killed last.',
    hint: 'set equal requests and limits in `deploy.resources`',
    harmless: isZero,
  }),
  pids_limit: none(castNumber, {
    why: 'The kubelet limits the number of processes in a Pod (`podPidsLimit`), for all Pods of a node alike.',
    hint: 'set it on the node',
    harmless: isUnlimited,
  }),
  shm_size: {
    ...mapped(
      size(),
      'a memory `emptyDir` at `/dev/shm`',
      'counts towards the memory limit; 64 MiB or less is the default of containers',
    ),
    read: { shmSize: readShmSize },
  },
  ulimits: none(ulimits({ ...inDigits(integer()), cast: 'integer' }, { merge: merge.ulimit, cast: 'integer' }), {
    why: 'A Pod has no field for ulimits: a container starts with the ulimits of the node’s container runtime.',
    hint: "set it on the node, or start the process with `sh -c 'ulimit -n 65535; exec …'`",
    harmless: isEmpty,
  }),
  blkio_config: none(
    object({
      weight: integer(),
      weight_device: list({
        ...object({ path: text(), weight: integer() }),
        always: { path: print.emptyText, weight: print.zero },
      }),
      device_read_bps: rates,
      device_read_iops: rates,
      device_write_bps: rates,
      device_write_iops: rates,
    }),
    {
      why: 'Kubernetes does not limit or weight the disk I/O of Pods.',
      hint: 'choose a storage class with the performance that the volume needs',
      harmless: isEmpty,
    },
  ),
  storage_opt: {
    ...mapped(
      {
        ...record(
          none(inDigits(anyOf('string', 'integer', 'null')), {
            family: 'storage-opt',
            why: 'Storage driver options are for the container engine. Only `size` has an equivalent: the limit for ephemeral storage.',
          }),
          {
            keys: {
              size: mapped(inDigits(anyOf('string', 'integer', 'null')), '`resources.limits.ephemeral-storage`'),
            },
            names: /^/,
            called: 'OPTION',
          },
        ),
        print: print.options,
      },
      '`size`: `resources.limits.ephemeral-storage`',
    ),
    read: { resources: readResources },
  },
  gpus: {
    ...mapped(
      {
        ...either(
          { scalar: { types: ['string'], words: ['all'] } },
          list(deviceRequest({ capabilitiesRequired: false })),
        ),
        long: long.gpus,
      },
      '`resources.limits` with the vendor’s extended resource (`nvidia.com/gpu`)',
      '`all` becomes 1 with a warning',
    ),
    read: { gpus: readDeviceRequests },
  },
  devices: {
    ...approximated(
      {
        ...list({
          ...either(
            text(),
            object(
              {
                source: mapped(text(), '`hostPath`'),
                target: mapped(text(), '`mountPath`'),
                permissions: unusable(text(), 'a privileged container has full access'),
              },
              { required: ['source', 'target'] },
            ),
          ),
          long: long.device,
        }),
        identity: identity.device,
      },
      '`hostPath` in a privileged container',
      'always a warning: without `privileged` it is left out; with it, the device is the one of the node where the Pod runs',
    ),
    read: { devices: readDevices },
  },
  device_cgroup_rules: none(list(text(), { unique: true }), {
    why: 'A Pod cannot set the device rules of its control group. It gets devices from device plugins, or runs privileged.',
    harmless: isEmpty,
  }),
} satisfies Keys

/** The dialect's `resources` key of a service, with Kubernetes quantities. */
export const serviceResources = object({
  requests: mapped(
    object({
      cpu: mapped(number(), '`resources.requests.cpu`'),
      memory: mapped(number(), '`resources.requests.memory`'),
    }),
    '`resources.requests`',
  ),
  limits: mapped(
    object({ cpu: mapped(number(), '`resources.limits.cpu`'), memory: mapped(number(), '`resources.limits.memory`') }),
    '`resources.limits`',
  ),
})
