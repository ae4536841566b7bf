import { isOneOf, isUnlimited, isZero } from '../../schema/harmless.ts'
import { mapped, none } from '../../schema/row.ts'
import { integer, keyValues, list, number, object, orNull, type Shape, text, word } from '../../schema/shape.ts'
import { restartWords } from './lifecycle.ts'
import { deviceRequest } from './resources.ts'

const pids =
  'The number of processes in a Pod is limited by the kubelet (`podPidsLimit`), for all Pods of a node alike.'

const updateKeys = {
  parallelism: integer(),
  delay: text(),
  monitor: text(),
  order: word(['start-first', 'stop-first']),
  failure_action: text(),
  max_failure_ratio: number(),
}

/** How the copies of a service are run. */
export const deploy: Shape = orNull(
  object({
    mode: mapped(text(), '`global`: DaemonSet', 'the job modes of Swarm are refused: use `restart`'),
    replicas: mapped(integer(), '`replicas`', 'written only when given'),
    endpoint_mode: mapped(word(['vip', 'dnsrr', '']), '`dnsrr`: a headless Service'),
    labels: mapped(keyValues(), 'annotations of the workload, not of its Pods'),
    resources: mapped(
      object({
        limits: mapped(
          object({
            cpus: mapped(number(), '`resources.limits.cpu`'),
            memory: mapped(text(), '`resources.limits.memory`'),
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
            cpus: mapped(number(), '`resources.requests.cpu`'),
            memory: mapped(text(), '`resources.requests.memory`'),
            devices: mapped(
              list(deviceRequest({ capabilitiesRequired: true })),
              '`resources.limits` with the vendor’s extended resource',
            ),
            generic_resources: mapped(
              list(
                object({
                  discrete_resource_spec: mapped(
                    object({
                      kind: mapped(text(), 'its name', 'with a domain (`example.com/card`), or `gpu`'),
                      value: mapped(number(), 'how many'),
                    }),
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
        max_attempts: mapped(integer(), '`backoffLimit` of a Job'),
        delay: none(text(), restartTiming()),
        window: none(text(), restartTiming()),
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
        max_replicas_per_node: mapped(integer(), '1: required anti-affinity', 'more than 1 gets a warning'),
      }),
      'where Pods may run',
    ),
    update_config: mapped(
      object({
        parallelism: mapped(
          updateKeys.parallelism,
          '`maxSurge` or `maxUnavailable`',
          'of a StatefulSet from Kubernetes 1.35 on (info)',
        ),
        order: mapped(
          updateKeys.order,
          '`start-first`: surge; `stop-first`: none',
          '`start-first` is impossible on a StatefulSet and with ports of the node (warning)',
        ),
        delay: mapped(updateKeys.delay, '`minReadySeconds`'),
        monitor: mapped(
          updateKeys.monitor,
          '`progressDeadlineSeconds` of a Deployment',
          'where it is longer than the ten minutes that Kubernetes takes anyway',
        ),
        failure_action: none(updateKeys.failure_action, {
          family: 'update-failure',
          why: 'An update whose Pods do not become ready stops where it is, with the old Pods still there: that is `pause`. Kubernetes does not go back by itself and does not go on.',
          hint: 'deploy the previous version again to go back',
          harmless: isOneOf('pause', ''),
        }),
        max_failure_ratio: none(updateKeys.max_failure_ratio, {
          family: 'update-failure',
          why: 'An update stops at the first Pods that do not become ready.',
          harmless: isZero,
        }),
      }),
      'the update strategy',
      'the label `dev.platform/update` wins',
    ),
    rollback_config: none(object(updateKeys), {
      why: 'Kubernetes goes back to an older version in the same way as it goes to a newer one; there is no strategy of its own for it.',
      hint: 'set what both need in `deploy.update_config`',
    }),
  }),
)

function restartTiming(): Parameters<typeof none>[1] {
  return {
    family: 'restart-timing',
    why: 'The kubelet starts a container again after 10 s, then after twice as long each time, up to five minutes. A Pod cannot choose other times.',
  }
}
