import { mapped, none } from '../../schema/row.ts'
import { integer, list, number, object, orNull, type Shape, text, word } from '../../schema/shape.ts'
import { isOneOf, isUnlimited, isZero } from '../../schema/value-predicates.ts'
import { castInteger, cpus, duration, labels } from './forms.ts'
import { restartWords } from './lifecycle.ts'
import * as print from './print.ts'
import { deviceRequest } from './resources.ts'

const pids = 'The kubelet limits the number of processes in a Pod (`podPidsLimit`), for all Pods of a node alike.'

const updateKeys = {
  parallelism: { ...castInteger(), print: print.optionalCount },
  delay: { ...duration(), print: print.duration },
  monitor: { ...duration(), print: print.duration },
  order: word(['start-first', 'stop-first']),
  failure_action: text(),
  max_failure_ratio: { ...number(), cast: 'number', print: print.ratio } satisfies Shape,
}

const deploySection: Shape = orNull(
  object({
    mode: mapped(text(), '`global`: DaemonSet', 'Swarm’s job modes are refused: use `restart`'),
    replicas: mapped({ ...castInteger(), print: print.optionalInteger }, '`replicas`', 'written only when given'),
    endpoint_mode: mapped(word(['vip', 'dnsrr', '']), '`dnsrr`: a headless Service'),
    labels: mapped(labels(), 'annotations of the workload, not of its Pods'),
    resources: mapped(
      object({
        limits: mapped(
          object({
            cpus: mapped(cpus(), '`resources.limits.cpu`'),
            memory: mapped({ ...text(), print: print.bytes }, '`resources.limits.memory`'),
            pids: none(integer(), {
              family: 'pids-limit',
              why: pids,
              hint: 'set it on the node',
              harmless: isUnlimited,
            }),
          }),
          '`resources.limits`',
        ),
        reservations: mapped(
          object({
            cpus: mapped(cpus(), '`resources.requests.cpu`'),
            memory: mapped({ ...text(), print: print.bytes }, '`resources.requests.memory`'),
            devices: mapped(
              list(deviceRequest({ capabilitiesRequired: true })),
              '`resources.limits` with the vendor’s extended resource',
            ),
            generic_resources: mapped(
              list(
                object({
                  discrete_resource_spec: mapped(
                    {
                      ...object({
                        kind: mapped(text(), 'its name', 'with a domain (`example.com/card`), or `gpu`'),
                        value: mapped({ ...number(), print: print.optionalInteger }, 'its quantity'),
                      }),
                      always: { kind: print.emptyText, value: print.zero },
                    },
                    'an extended resource',
                  ),
                }),
              ),
              '`resources.limits` with extended resources',
            ),
          }),
          '`resources.requests`',
        ),
      }),
      '`resources`',
    ),
    restart_policy: mapped(
      object({
        condition: mapped(word([...restartWords, '']), 'the kind of workload', 'wins over `restart`'),
        max_attempts: mapped({ ...castInteger(), print: print.optionalCount }, '`backoffLimit` of a Job'),
        delay: none(duration(), restartTiming()),
        window: none(duration(), restartTiming()),
      }),
      'the kind of workload',
    ),
    placement: mapped(
      object({
        constraints: mapped(list(text()), 'required node affinity'),
        preferences: mapped(
          list(object({ spread: mapped(text(), 'the key of the constraint') })),
          '`topologySpreadConstraints`, as far as possible',
        ),
        max_replicas_per_node: mapped(
          { ...castInteger(), print: print.count },
          '1: required anti-affinity',
          'more than 1 gets a warning',
        ),
      }),
      'node affinity and topology spread',
    ),
    update_config: mapped(
      object({
        parallelism: mapped(
          updateKeys.parallelism,
          '`maxSurge` or `maxUnavailable`',
          'for a StatefulSet since Kubernetes 1.35 (info)',
        ),
        order: mapped(
          updateKeys.order,
          '`start-first`: surge; `stop-first`: none',
          '`start-first` is not possible for a StatefulSet or with host ports (warning)',
        ),
        delay: mapped(updateKeys.delay, '`minReadySeconds`'),
        monitor: mapped(
          updateKeys.monitor,
          '`progressDeadlineSeconds` of a Deployment',
          'if it is longer than the Kubernetes default of ten minutes',
        ),
        failure_action: none(updateKeys.failure_action, {
          family: 'update-failure',
          why: 'An update whose Pods do not become ready stops, and the old Pods keep running: that is `pause`. Kubernetes neither rolls back by itself nor continues.',
          hint: 'to roll back, deploy the previous version again',
          harmless: isOneOf('pause', ''),
        }),
        max_failure_ratio: none(updateKeys.max_failure_ratio, {
          family: 'update-failure',
          why: 'An update stops when the first Pods do not become ready.',
          harmless: isZero,
        }),
      }),
      'the update strategy',
      'the label `dev.platform/update` wins',
    ),
    rollback_config: none(object(updateKeys), {
      why: 'Kubernetes rolls back in the same way as it updates; it has no separate strategy for a rollback.',
      hint: 'use `deploy.update_config`, which applies to both',
    }),
  }),
)

/** `deploy` of a service (https://github.com/compose-spec/compose-spec/blob/main/deploy.md). */
export const deploy: Shape = {
  ...deploySection,
  always: { resources: print.emptyMap, placement: print.emptyMap },
}

function restartTiming(): Parameters<typeof none>[1] {
  return {
    family: 'restart-timing',
    why: 'The kubelet restarts a container after 10 s, then doubles the delay each time, up to five minutes. A Pod cannot change this.',
  }
}
