import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Problem } from './problems.ts'

/** Variable parts of the message about a workload that does not start. */
export interface FailureText {
  readonly service: string
  /** Facts: messages of the cluster, its warnings, the last lines of the log. */
  readonly notes: readonly string[]
  /**
   * Message and hint for this particular failure. They replace the general message and hint for this kind of problem.
   */
  readonly message?: string
  readonly hint?: string
}

const imagePull = diagnostic({
  code: 'deploy/image-pull',
  severity: 'error',
  explain:
    'The node cannot pull the image of a container: the name or tag is wrong, the registry is not reachable, or it requires credentials that the namespace does not have. Kubernetes keeps retrying, so pushing the image is enough; devctl stops waiting immediately, unless the pull timed out or the registry answered with 429 or 5xx: those are waited for until the deadline.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `the image of \`${service}\` cannot be pulled`,
    notes,
    hint,
  }),
})

const crashLoop = diagnostic({
  code: 'deploy/crash-loop',
  severity: 'error',
  explain:
    'The container exits again and again after it starts. A Job and a `pre_start` hook are tried until the deadline, and a server at least for a minute after its dependencies became ready. The last log lines are below the message. Exit code 137 means that it was killed, most often out of memory or by a failed healthcheck; 126 and 127 that the command is not executable or was not found; 139 that the program crashed.',
  text: ({ service, notes, message, hint, ends = { count: 0, exitCode: 0 } }: FailureText & Pick<Problem, 'ends'>) => ({
    message:
      message ??
      `\`${service}\` exited ${ends.count} times with code ${ends.exitCode}${ends.reason === 'OOMKilled' ? ', out of memory' : ''}`,
    notes,
    hint,
  }),
})

const endsWell = diagnostic({
  code: 'deploy/ends-well',
  severity: 'error',
  explain:
    'The container exits without an error, and its restart policy starts it again and again. If the service should run once, make it a Job with `restart: "no"` or `restart: on-failure`; if it shares the Pod of another service, devctl must know its program: set `entrypoint` to the program that its image starts. If it is a server, its program must keep running in the foreground.',
  text: ({ service, notes, hint, ends = { count: 0, exitCode: 0 } }: FailureText & Pick<Problem, 'ends'>) => ({
    message: `\`${service}\` exited ${ends.count} times without an error`,
    notes,
    hint,
  }),
})

const configuration = diagnostic({
  code: 'deploy/configuration',
  severity: 'error',
  explain:
    'The container cannot be created: a Secret or ConfigMap does not exist, the command does not exist in the image, or a mount is invalid. External `configs` and `secrets` must exist in the namespace before the deploy.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `a container of \`${service}\` cannot be created`,
    notes,
    hint,
  }),
})

const unschedulable = diagnostic({
  code: 'deploy/unschedulable',
  severity: 'error',
  explain:
    'The Pod cannot be scheduled: no node has enough free memory or CPU for its requests, its node selector matches no node, or a claim cannot be bound. The message of the scheduler has the reason for each node. While an autoscaler adds a node, or another Pod still ends, devctl waits until the deadline.',
  text: ({ service, notes, hint }: FailureText) => ({
    message: `the Pods of \`${service}\` cannot be scheduled`,
    notes,
    hint,
  }),
})

const unhealthy = diagnostic({
  code: 'deploy/unhealthy',
  severity: 'error',
  explain:
    'The container runs, but its healthcheck has failed `retries` times after `start_period`, as Compose counts. The result of the last check and the last log lines are below the message. The container keeps running.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `\`${service}\` runs, but its healthcheck fails`,
    notes,
    hint,
  }),
})

const refused = diagnostic({
  code: 'deploy/refused',
  severity: 'error',
  explain:
    "The cluster refuses to create the Pods of a workload: the quota of the namespace is exceeded, its Pod Security level does not allow them, or an admission webhook denied them. The message is the cluster's own.",
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `the cluster refuses the Pods of \`${service}\``,
    notes,
    hint,
  }),
})

const claim = diagnostic({
  code: 'deploy/claim',
  severity: 'error',
  explain:
    'A claim cannot be bound: its storage class does not exist, or the provisioner cannot create a volume. Set `driver_opts.class` to a storage class of the cluster, or remove it for the default one: `kubectl get storageclass` lists them.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `a claim of \`${service}\` cannot be bound`,
    notes,
    hint,
  }),
})

const failed = diagnostic({
  code: 'deploy/failed',
  severity: 'error',
  explain:
    'A Job failed, or a workload made no progress within its deadline. The last log lines of the Pod are below the message. Fix the cause and deploy again: a failed Job is created again.',
  text: ({ service, notes, hint, ends }: FailureText & Pick<Problem, 'ends'>) => ({
    message: `\`${service}\` has failed${ends ? `: it exited with code ${ends.exitCode}${ends.reason === 'OOMKilled' ? ', out of memory' : ''}` : ''}`,
    notes,
    hint: hint ?? `\`devctl logs ${service}\` shows more`,
  }),
})

const serves = diagnostic({
  code: 'deploy/never-completes',
  severity: 'error',
  explain:
    'Another service waits with `service_completed_successfully` for this one, which is a Job because of its restart policy or because of that wait. But its healthcheck passes: it is a server that keeps running, so the wait lasts until the deadline. Write `restart: always` (or `condition: any`, if it has `deploy.restart_policy`) and wait with `service_healthy` or `service_started`, or, if the program does exit, remove the healthcheck.',
  text: ({ service, notes, hint }: FailureText) => ({
    message: `\`${service}\` is a server and never completes`,
    notes,
    hint,
  }),
})

const late = diagnostic({
  code: 'deploy/not-ready',
  severity: 'error',
  explain:
    'devctl reached its deadline while it waited for this service, which might still become ready. Its state, the warnings of the cluster and its last log lines are below the message. To wait longer, use `--timeout`. With `healthcheck.start_period`, the first check comes that long after the start of the container, and the service is not ready before.',
  text: ({ service, notes, hint }: FailureText) => ({
    message: `\`${service}\` was not ready in time`,
    notes,
    hint: hint ?? `wait longer with \`--timeout\`; \`devctl logs ${service}\` shows more`,
  }),
})

/** Short text for each problem, shown as progress; the full report follows at the end. */
export const SHORT: Readonly<Record<Problem['code'], string>> = {
  'image-pull': 'its image cannot be pulled',
  'crash-loop': 'it keeps exiting',
  configuration: 'a container cannot be created',
  unschedulable: 'it cannot be scheduled',
  unhealthy: 'its healthcheck fails',
  refused: 'the cluster refuses its Pods',
  claim: 'a claim cannot be bound',
  serves: 'it is a server and never completes',
}

/** Diagnostics about workloads that do not become ready, by problem. */
export const KINDS = {
  'image-pull': imagePull,
  'crash-loop': crashLoop,
  'ends-well': endsWell,
  configuration,
  unschedulable,
  unhealthy,
  refused,
  claim,
  serves,
  failed,
  late,
}
