import { diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Problem } from './problems.ts'

/** What every message about a workload that does not start is made of. */
export interface FailureText {
  readonly service: string
  /** Facts: the cluster's words, its warnings, the last lines of the log. */
  readonly notes: readonly string[]
  /** What is known of this very failure: in place of what is said of its kind. */
  readonly message?: string
  readonly hint?: string
}

const imagePull = diagnostic({
  code: 'deploy/image-pull',
  severity: 'error',
  explain:
    'The node cannot pull the image of a container: the name or tag is wrong, the registry cannot be reached, or it wants credentials that the namespace does not have. Kubernetes goes on trying, so that pushing the image is enough; devctl stops waiting at once.',
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
    'The container starts and ends, again and again. The last lines that it printed are below the message. Exit code 137 is a kill, most often for memory, or because the health check failed; 126 and 127 say that the command cannot be run or was not found; 139 is a crash of the program itself.',
  text: ({ service, notes, message, hint, ends = { count: 0, exitCode: 0 } }: FailureText & Pick<Problem, 'ends'>) => ({
    message:
      message ??
      `\`${service}\` ended ${ends.count} times with exit code ${ends.exitCode}${ends.reason === 'OOMKilled' ? ', killed for its memory' : ''}`,
    notes,
    hint,
  }),
})

const endsWell = diagnostic({
  code: 'deploy/ends-well',
  severity: 'error',
  explain:
    'The container does its work and ends without an error, and because of its restart policy it is started again and again. A service that is to run once is a Job: write `restart: "no"`, or `restart: on-failure`. One that is to stay must not end, nor put itself into the background.',
  text: ({ service, notes, hint, ends = { count: 0, exitCode: 0 } }: FailureText & Pick<Problem, 'ends'>) => ({
    message: `\`${service}\` ended ${ends.count} times without an error`,
    notes,
    hint,
  }),
})

const configuration = diagnostic({
  code: 'deploy/configuration',
  severity: 'error',
  explain:
    'The container cannot be made: a Secret or ConfigMap that it needs is not there, its command does not exist in the image, or a mount does not fit. External `configs` and `secrets` have to be in the namespace before the deploy.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `a container of \`${service}\` cannot be made`,
    notes,
    hint,
  }),
})

const unschedulable = diagnostic({
  code: 'deploy/unschedulable',
  severity: 'error',
  explain:
    'No node takes the Pod: too little memory or cpu is free for its requests, its node selector fits none, or a claim cannot be bound. The message of the scheduler tells which nodes failed for what.',
  text: ({ service, notes, hint }: FailureText) => ({
    message: `no node takes \`${service}\``,
    notes,
    hint,
  }),
})

const unhealthy = diagnostic({
  code: 'deploy/unhealthy',
  severity: 'error',
  explain:
    'The container runs, but its health check has failed as often as `retries` allows after `start_period`, as Compose counts. What the last check said, and the last lines of the log, are below the message. The container goes on running.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `\`${service}\` runs, but its health check fails`,
    notes,
    hint,
  }),
})

const refused = diagnostic({
  code: 'deploy/refused',
  severity: 'error',
  explain:
    "The cluster does not let the Pods of a workload be made: the namespace's quota is used up, its Pod Security level forbids something, or an admission webhook has said no. The message is the cluster's own.",
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
    'A claim gets no volume: its storage class does not exist, or the provisioner cannot make one. Name a class that the cluster has in `driver_opts.class`, or leave it out for the default one: `kubectl get storageclass` lists them.',
  text: ({ service, notes, message, hint }: FailureText) => ({
    message: message ?? `a claim of \`${service}\` gets no volume`,
    notes,
    hint,
  }),
})

const failed = diagnostic({
  code: 'deploy/failed',
  severity: 'error',
  explain:
    'A Job has failed, or a workload made no progress within its deadline. The last lines that the Pod printed are below the message. Deploy again when it is mended: a failed Job is made anew.',
  text: ({ service, notes, hint, ends }: FailureText & Pick<Problem, 'ends'>) => ({
    message: `\`${service}\` has failed${ends ? `: it ended with exit code ${ends.exitCode}${ends.reason === 'OOMKilled' ? ', killed for its memory' : ''}` : ''}`,
    notes,
    hint: hint ?? `\`devctl logs ${service}\` shows more`,
  }),
})

const serves = diagnostic({
  code: 'deploy/never-completes',
  severity: 'error',
  explain:
    'Another service waits with `service_completed_successfully` for this one, which is a Job because of its restart policy, or because of that wait. But its health check passes: it is a server, which goes on running, so that the wait would last until the deadline. Write `restart: always`, and wait with `service_healthy` or `service_started`; or take the healthcheck away from a program that does its work and ends.',
  text: ({ service, notes, hint }: FailureText) => ({
    message: `\`${service}\` is a server, and never completes`,
    notes,
    hint,
  }),
})

const late = diagnostic({
  code: 'deploy/not-ready',
  severity: 'error',
  explain:
    'The deadline has come while devctl waited for this service. Nothing said that waiting longer could not help. How far it is, what the cluster has warned of, and the last lines that it printed are below the message. Give it longer with `--timeout`.',
  text: ({ service, notes }: FailureText) => ({
    message: `\`${service}\` was not ready in time`,
    notes,
    hint: `give it longer with \`--timeout\`; \`devctl logs ${service}\` shows more`,
  }),
})

/** Each problem in a few words, for progress: it is told in full at the end. */
export const SHORT: Readonly<Record<Problem['code'], string>> = {
  'image-pull': 'its image cannot be pulled',
  'crash-loop': 'it ends again and again',
  configuration: 'a container of it cannot be made',
  unschedulable: 'no node takes it',
  unhealthy: 'its health check fails',
  refused: 'the cluster refuses its Pods',
  claim: 'a claim of it gets no volume',
  serves: 'it is a server, and never completes',
}

/** How each problem is told. */
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
